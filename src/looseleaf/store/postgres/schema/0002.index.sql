-- What recall searches (docs/POSTGRES.md). All of it follows from the log and the documents, and may be made again: so no
-- commit waits for the disk, and `clear_views` removes it.
--
-- An item is found in one of two ways. Up to the item `posted`, by its postings: a row for each of its words. The terms
-- of newer ones are compared in the process. A memory of few items has no postings at all: they would take more room
-- than all the rest.

-- The newest numbers of a memory's index. `making`: another one for each index made anew; `version`: one more with each
-- change; `erased`: one more when a posted word may have left; `cut`: one more when an item left that was not posted.
-- `acts`: the last changes, so that none is done twice.
CREATE TABLE looseleaf.indexes (
    memory bigint NOT NULL PRIMARY KEY,
    making bigint NOT NULL,
    version bigint NOT NULL DEFAULT 0,
    erased bigint NOT NULL DEFAULT 0,
    cut bigint NOT NULL DEFAULT 0,
    item int NOT NULL DEFAULT 0,
    posted int NOT NULL DEFAULT 0,
    source int NOT NULL DEFAULT 0,
    session int NOT NULL DEFAULT 0,
    word int NOT NULL DEFAULT 0,
    line int NOT NULL DEFAULT 0,
    acts bigint[] NOT NULL DEFAULT '{}'
) WITH (fillfactor = 50);

CREATE SEQUENCE looseleaf.makings;

-- A name as a key. An index has no room for more than 2,700 bytes.
CREATE FUNCTION looseleaf.key_of(name text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN octet_length(name) <= 1000 THEN name ELSE left(name, 100) || ' ' || md5(name) END;

CREATE TABLE looseleaf.sources (
    memory bigint NOT NULL,
    source int NOT NULL,
    key text COLLATE "C" NOT NULL GENERATED ALWAYS AS (looseleaf.key_of(name)) STORED,
    name text COLLATE "C" NOT NULL,
    mark text NOT NULL,
    PRIMARY KEY (memory, source)
);
CREATE UNIQUE INDEX sources_named ON looseleaf.sources (memory, key);
-- Those of logs and rules: few, and asked for with each question.
CREATE INDEX sources_of_logs ON looseleaf.sources (memory) WHERE strpos(name, ':') = 0;

-- `next`: the place of the next item.
CREATE TABLE looseleaf.sessions (
    memory bigint NOT NULL,
    session int NOT NULL,
    source int NOT NULL,
    key text COLLATE "C" NOT NULL GENERATED ALWAYS AS (looseleaf.key_of(name)) STORED,
    name text COLLATE "C" NOT NULL,
    next int NOT NULL,
    PRIMARY KEY (memory, session),
    UNIQUE (memory, source, key)
) WITH (fillfactor = 80);

CREATE TABLE looseleaf.items (
    memory bigint NOT NULL,
    hash bigint NOT NULL,
    byte bigint NOT NULL,
    ts float8,
    item int NOT NULL,
    source int NOT NULL,
    session int,
    seq int NOT NULL,
    segment int NOT NULL,
    first int NOT NULL,
    last int NOT NULL,
    len int NOT NULL,
    kind text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    speaker text COLLATE "C" NOT NULL,
    role text COLLATE "C" NOT NULL,
    level text COLLATE "C" NOT NULL,
    status text COLLATE "C" NOT NULL,
    topic text COLLATE "C" NOT NULL,
    terms text COLLATE "C" NOT NULL,
    PRIMARY KEY (memory, item)
) PARTITION BY HASH (memory);
CREATE INDEX items_near ON looseleaf.items (memory, session, seq) WHERE session IS NOT NULL;
CREATE INDEX items_then ON looseleaf.items (memory, ts) WHERE ts IS NOT NULL;
CREATE INDEX items_meant ON looseleaf.items (memory, hash);
CREATE INDEX items_of ON looseleaf.items (memory, source) WHERE kind <> 'trace';

CREATE TABLE looseleaf.means (
    memory bigint NOT NULL,
    kind text COLLATE "C" NOT NULL,
    role text COLLATE "C" NOT NULL,
    items bigint NOT NULL,
    terms bigint NOT NULL,
    PRIMARY KEY (memory, kind, role)
) WITH (fillfactor = 50);

CREATE TABLE looseleaf.speakers (
    memory bigint NOT NULL,
    source int NOT NULL,
    key text COLLATE "C" NOT NULL GENERATED ALWAYS AS (looseleaf.key_of(name)) STORED,
    name text COLLATE "C" NOT NULL,
    items int NOT NULL,
    PRIMARY KEY (memory, source, key)
) WITH (fillfactor = 80);

-- Traces that state a fact which no longer holds.
CREATE TABLE looseleaf.past (
    memory bigint NOT NULL,
    trace text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL GENERATED ALWAYS AS (looseleaf.key_of(fact)) STORED,
    fact text COLLATE "C" NOT NULL,
    source int NOT NULL,
    PRIMARY KEY (memory, trace, key)
);
CREATE INDEX past_of ON looseleaf.past (memory, source);

-- The words of posted items.
CREATE TABLE looseleaf.words (
    memory bigint NOT NULL,
    term text COLLATE "C" NOT NULL,
    word int NOT NULL,
    items int NOT NULL,
    PRIMARY KEY (memory, term)
) PARTITION BY HASH (memory);
CREATE UNIQUE INDEX words_numbered ON looseleaf.words (memory, word);

-- `sort`: the item's kind and whether it is over, so that most filters need not look at the item.
CREATE TABLE looseleaf.postings (
    memory bigint NOT NULL,
    word int NOT NULL,
    item int NOT NULL,
    tf smallint NOT NULL,
    len smallint NOT NULL,
    sort smallint NOT NULL,
    PRIMARY KEY (memory, word, item) INCLUDE (tf, len, sort)
) PARTITION BY HASH (memory);

-- What is said, word for word: ` these are words `, each once, between blanks.
CREATE TABLE looseleaf.lines (
    memory bigint NOT NULL,
    byte bigint NOT NULL,
    source int NOT NULL,
    line int NOT NULL,
    segment int NOT NULL,
    words text COLLATE "C" NOT NULL,
    PRIMARY KEY (memory, source, line)
) PARTITION BY HASH (memory);

-- Models that make vectors. `making`: another one for each time that all are made anew; `erased`: one more with each
-- removal; `place`: of the newest vector.
CREATE TABLE looseleaf.models (
    memory bigint NOT NULL,
    model int NOT NULL,
    key text COLLATE "C" NOT NULL GENERATED ALWAYS AS (looseleaf.key_of(name)) STORED,
    name text NOT NULL,
    making bigint NOT NULL,
    dimensions int NOT NULL,
    erased bigint NOT NULL DEFAULT 0,
    place int NOT NULL DEFAULT 0,
    PRIMARY KEY (memory, model),
    UNIQUE (memory, key)
) WITH (fillfactor = 50);

-- Vectors of length 1, as float16 with the lowest byte first, which are compared in the process. Where the extension
-- pgvector is there and runs, they are in `halfvectors` and compared in the database.
CREATE TABLE looseleaf.vectors (
    memory bigint NOT NULL,
    hash bigint NOT NULL,
    model int NOT NULL,
    place int NOT NULL,
    v bytea NOT NULL,
    PRIMARY KEY (memory, model, hash)
) PARTITION BY HASH (memory);
CREATE UNIQUE INDEX vectors_placed ON looseleaf.vectors (memory, model, place);
ALTER TABLE looseleaf.vectors ALTER COLUMN v SET STORAGE MAIN;

-- Make the parts of a large table, and let each session see one memory in all of them.
CREATE PROCEDURE looseleaf.part(large text) LANGUAGE plpgsql AS $$
BEGIN
    FOR part IN 0..31 LOOP
        EXECUTE format(
            'CREATE TABLE looseleaf.%I PARTITION OF looseleaf.%I FOR VALUES WITH (MODULUS 32, REMAINDER %s)',
            format('%s_%s', large, part), large, part);
        CALL looseleaf.keep_apart(format('%s_%s', large, part));
    END LOOP;
    CALL looseleaf.keep_apart(large);
END $$;

CREATE PROCEDURE looseleaf.keep_apart(name text) LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('ALTER TABLE looseleaf.%I ENABLE ROW LEVEL SECURITY', name);
    EXECUTE format('ALTER TABLE looseleaf.%I FORCE ROW LEVEL SECURITY', name);
    EXECUTE format('CREATE POLICY own ON looseleaf.%I USING (memory = looseleaf.own())', name);
END $$;

CALL looseleaf.part('items');
CALL looseleaf.part('words');
CALL looseleaf.part('postings');
CALL looseleaf.part('lines');
CALL looseleaf.part('vectors');
CALL looseleaf.keep_apart('indexes');
CALL looseleaf.keep_apart('sources');
CALL looseleaf.keep_apart('sessions');
CALL looseleaf.keep_apart('means');
CALL looseleaf.keep_apart('speakers');
CALL looseleaf.keep_apart('past');
CALL looseleaf.keep_apart('models');

-- As in the log: no samples of what people said.
ALTER TABLE looseleaf.items ALTER COLUMN terms SET STATISTICS 0;
ALTER TABLE looseleaf.lines ALTER COLUMN words SET STATISTICS 0;
ALTER TABLE looseleaf.vectors ALTER COLUMN v SET STATISTICS 0;

-- New rows are read from the index alone only once a vacuum has seen their pages.
DO $$
BEGIN
    FOR part IN 0..31 LOOP
        EXECUTE format('ALTER TABLE looseleaf.postings_%s SET (autovacuum_vacuum_insert_scale_factor = 0.05)', part);
    END LOOP;
END $$;

-- --- changes -----------------------------------------------------------------------------

-- Begin a change of the index: alone until the end of the transaction. The key is of another space than memories' locks.
CREATE FUNCTION looseleaf.lock_index(m bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('synchronous_commit', 'off', true);
    PERFORM pg_advisory_xact_lock(hashtext(m::text), 2);
END $$;

CREATE FUNCTION looseleaf.sort_of(kind text, status text) RETURNS int LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN coalesce(array_position(ARRAY['trace', 'fact', 'entry', 'prose', 'day', 'episode'], kind), 0)
        + CASE WHEN status IN ('', 'current') THEN 0 ELSE 64 END;

-- Remove the items and lines of a source. `gone`: posted terms that no item has any more; `was_cut`: whether an item was
-- not posted.
CREATE FUNCTION looseleaf.erase(
    m bigint, number int, is_log boolean, posted_to int, OUT gone text[], OUT was_cut boolean
) LANGUAGE plpgsql SET jit = off SET plan_cache_mode = force_generic_plan
-- A few rows are looked up in large tables, and no plan may read those as a whole.
SET enable_hashjoin = off SET enable_mergejoin = off SET enable_seqscan = off AS $$
DECLARE
    items int[];
    texts text[];
    known int[];
BEGIN
    WITH removed AS MATERIALIZED (
        DELETE FROM looseleaf.items i
        WHERE i.memory = m AND i.source = number AND (is_log OR i.kind <> 'trace')
        RETURNING i.item, i.kind, i.role, i.len, i.terms),
    fewer AS (
        UPDATE looseleaf.means x SET items = x.items - c.items, terms = x.terms - c.terms
        FROM (SELECT g.kind, g.role, count(*) AS items, sum(g.len) AS terms FROM removed g GROUP BY g.kind, g.role) c
        WHERE x.memory = m AND x.kind = c.kind AND x.role = c.role)
    SELECT array_agg(r.item) FILTER (WHERE r.item <= posted_to), array_agg(r.terms) FILTER (WHERE r.item <= posted_to),
        coalesce(bool_or(r.item > posted_to), false)
    INTO items, texts, was_cut FROM removed r;
    gone := '{}';
    IF items IS NOT NULL THEN
        DELETE FROM looseleaf.postings x USING (
            SELECT w.word, u.item FROM unnest(items, texts) AS u (item, terms)
            CROSS JOIN LATERAL unnest(string_to_array(u.terms, ' ')) AS t (term)
            CROSS JOIN LATERAL (
                SELECT y.word FROM looseleaf.words y
                WHERE y.memory = m AND y.term = looseleaf.key_of(t.term) OFFSET 0) w) p
        WHERE x.memory = m AND x.word = p.word AND x.item = p.item;
        WITH less AS (
            INSERT INTO looseleaf.words AS w (memory, term, word, items)  -- all are there: they are only counted down
            SELECT m, looseleaf.key_of(t.term), 0, -count(DISTINCT u.item) FROM unnest(items, texts) AS u (item, terms)
            CROSS JOIN LATERAL unnest(string_to_array(u.terms, ' ')) AS t (term) GROUP BY 2
            ON CONFLICT (memory, term) DO UPDATE SET items = w.items + excluded.items
            RETURNING w.term, w.word, w.items)
        SELECT coalesce(array_agg(l.term), '{}'), array_agg(l.word) INTO gone, known FROM less l WHERE l.items = 0;
        DELETE FROM looseleaf.words x WHERE x.memory = m AND x.word = ANY (known);
    END IF;
    DELETE FROM looseleaf.sessions x WHERE x.memory = m AND x.source = number;
    DELETE FROM looseleaf.speakers x WHERE x.memory = m AND x.source = number;
    DELETE FROM looseleaf.past x WHERE x.memory = m AND x.source = number;
    DELETE FROM looseleaf.lines x WHERE x.memory = m AND x.source = number;
END $$;

-- Post some of the items that have no postings yet, the oldest first.
CREATE FUNCTION looseleaf.post(m bigint, most int) RETURNS void LANGUAGE plpgsql SET jit = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    begins int;
    ends int;
    newest int;
    known text[];
    numbers int[];
BEGIN
    SELECT h.posted, h.word INTO begins, newest FROM looseleaf.indexes h WHERE h.memory = m;
    SELECT max(s.item) INTO ends
    FROM (SELECT i.item FROM looseleaf.items i WHERE i.memory = m AND i.item > begins ORDER BY i.item LIMIT most) s;
    IF ends IS NULL THEN
        RETURN;
    END IF;
    -- A word that is there keeps its number; those that its term was given here are left out.
    WITH counted AS (
        INSERT INTO looseleaf.words AS w (memory, term, word, items)
        SELECT m, c.term, newest + row_number() OVER (ORDER BY c.term), c.items FROM (
            SELECT looseleaf.key_of(t.term) AS term, count(DISTINCT i.item) AS items
            FROM looseleaf.items i CROSS JOIN LATERAL unnest(string_to_array(i.terms, ' ')) AS t (term)
            WHERE i.memory = m AND i.item > begins AND i.item <= ends
            GROUP BY 1) c
        ON CONFLICT (memory, term) DO UPDATE SET items = w.items + excluded.items
        RETURNING term, word)
    SELECT array_agg(c.term), array_agg(c.word), greatest(newest, max(c.word)) INTO known, numbers, newest FROM counted c;
    INSERT INTO looseleaf.postings (memory, word, item, tf, len, sort)
    SELECT m, k.word, p.item, p.tf, p.len, p.sort
    FROM (
        SELECT looseleaf.key_of(t.term) AS term, i.item, least(count(*), 32767)::smallint AS tf,
            least(i.len, 32767)::smallint AS len, looseleaf.sort_of(i.kind, i.status)::smallint AS sort
        FROM looseleaf.items i CROSS JOIN LATERAL unnest(string_to_array(i.terms, ' ')) AS t (term)
        WHERE i.memory = m AND i.item > begins AND i.item <= ends
        GROUP BY 1, 2, i.len, i.kind, i.status) p
    JOIN unnest(known, numbers) AS k (term, word) ON k.term = p.term
    ORDER BY k.word, p.item;
    UPDATE looseleaf.indexes h SET posted = ends, word = newest, version = h.version + 1 WHERE h.memory = m;
END $$;

-- Take in what a source has. Past `few` items a memory is posted, and then
-- as soon as `waiting` are not: never many at once.
CREATE FUNCTION looseleaf.take(
    m bigint, act bigint, source_name text, new_mark text, is_anew boolean, is_log boolean, few int, waiting int,
    kinds text[], names text[], terms text[], lengths int[], hashes bigint[], in_sessions text[], speakers text[],
    roles text[], times float8[], levels text[], statuses text[], topics text[], segments int[], bytes bigint[],
    firsts int[], lasts int[], over_traces text[], over_facts text[], said_segments int[], said_bytes bigint[],
    said text[]
) RETURNS void LANGUAGE plpgsql SET jit = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    head looseleaf.indexes;
    number int;
    gone text[] := '{}';
    was_cut boolean := false;
    added int := cardinality(names);
BEGIN
    PERFORM looseleaf.lock_index(m);
    SELECT * INTO head FROM looseleaf.indexes h WHERE h.memory = m;
    IF NOT FOUND THEN
        INSERT INTO looseleaf.indexes AS h (memory, making) VALUES (m, nextval('looseleaf.makings')) RETURNING h.* INTO head;
    ELSIF act = ANY (head.acts) THEN
        RETURN;
    END IF;

    UPDATE looseleaf.sources s SET mark = new_mark WHERE s.memory = m AND s.key = looseleaf.key_of(source_name)
    RETURNING s.source INTO number;
    IF NOT FOUND THEN
        number := head.source + 1;
        INSERT INTO looseleaf.sources (memory, source, name, mark) VALUES (m, number, source_name, new_mark);
    ELSIF is_anew THEN
        SELECT e.gone, e.was_cut INTO gone, was_cut FROM looseleaf.erase(m, number, is_log, head.posted) e;
    END IF;

    IF added > 0 THEN
        WITH given AS MATERIALIZED (
            SELECT g.place, g.kind, g.name, g.terms, g.len, g.hash, nullif(g.session, '') AS session, g.speaker, g.role,
                g.ts, g.level, g.status, g.topic, g.segment, g.byte, g.first, g.last,
                row_number() OVER (PARTITION BY g.session ORDER BY g.place) AS seat
            FROM unnest(
                kinds, names, terms, lengths, hashes, in_sessions, speakers, roles, times, levels, statuses, topics,
                segments, bytes, firsts, lasts
            ) WITH ORDINALITY AS g (
                kind, name, terms, len, hash, session, speaker, role, ts, level, status, topic, segment, byte, first,
                last, place)),
        seated AS (
            INSERT INTO looseleaf.sessions AS s (memory, session, source, name, next)
            SELECT m, head.session + row_number() OVER (ORDER BY min(g.place)), number, g.session, count(*)
            FROM given g WHERE g.session IS NOT NULL GROUP BY g.session
            ON CONFLICT (memory, source, key) DO UPDATE SET next = s.next + excluded.next
            RETURNING s.session, s.name, s.next),
        counted AS (
            INSERT INTO looseleaf.means AS s (memory, kind, role, items, terms)
            SELECT m, g.kind, g.role, count(*), sum(g.len) FROM given g GROUP BY g.kind, g.role
            ON CONFLICT (memory, kind, role) DO UPDATE SET items = s.items + excluded.items, terms = s.terms + excluded.terms),
        heard AS (
            INSERT INTO looseleaf.speakers AS s (memory, source, name, items)
            SELECT m, number, g.speaker, count(*) FROM given g WHERE g.speaker <> '' GROUP BY g.speaker
            ON CONFLICT (memory, source, key) DO UPDATE SET items = s.items + excluded.items)
        INSERT INTO looseleaf.items (
            memory, item, source, kind, name, hash, session, seq, speaker, role, ts, level, status, topic, segment, byte,
            first, last, len, terms)
        SELECT m, head.item + g.place, number, g.kind, g.name, g.hash, s.session,
            CASE WHEN s.session IS NULL THEN 0
                ELSE s.next - (SELECT count(*) FROM given o WHERE o.session = g.session) + g.seat - 1 END,
            g.speaker, g.role, g.ts, g.level, g.status, g.topic, g.segment, g.byte, g.first, g.last, g.len, g.terms
        FROM given g LEFT JOIN seated s ON s.name = g.session;
    END IF;
    INSERT INTO looseleaf.past AS p (memory, trace, fact, source)
    SELECT DISTINCT m, looseleaf.key_of(o.trace), o.fact, number FROM unnest(over_traces, over_facts) AS o (trace, fact)
    ON CONFLICT (memory, trace, key) DO UPDATE SET source = excluded.source;
    INSERT INTO looseleaf.lines (memory, source, line, segment, byte, words)
    SELECT m, number, head.line + l.place, l.segment, l.byte, l.words
    FROM unnest(said_segments, said_bytes, said) WITH ORDINALITY AS l (segment, byte, words, place);

    UPDATE looseleaf.indexes h SET
        version = h.version + 1, item = h.item + added, line = h.line + cardinality(said),
        source = greatest(h.source, number), acts = (act || h.acts)[:8],
        session = h.session + (SELECT count(DISTINCT s) FROM unnest(in_sessions) AS u (s) WHERE s <> ''),
        erased = h.erased + least(cardinality(gone), 1), cut = h.cut + was_cut::int
    WHERE h.memory = m RETURNING h.* INTO head;
    -- Numbers have gaps: `few` and `waiting` are reached a little early, which does no harm.
    IF head.item - head.posted > (CASE WHEN head.posted > 0 THEN waiting ELSE few END) THEN
        PERFORM looseleaf.post(m, greatest(4 * waiting, 2 * added));
    END IF;
END $$;

CREATE FUNCTION looseleaf.drop_source(m bigint, act bigint, source_name text, is_log boolean) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    head looseleaf.indexes;
    number int;
    gone text[];
    was_cut boolean;
BEGIN
    PERFORM looseleaf.lock_index(m);
    SELECT * INTO head FROM looseleaf.indexes h WHERE h.memory = m;
    IF NOT FOUND OR act = ANY (head.acts) THEN
        RETURN;
    END IF;
    DELETE FROM looseleaf.sources s WHERE s.memory = m AND s.key = looseleaf.key_of(source_name)
    RETURNING s.source INTO number;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    SELECT e.gone, e.was_cut INTO gone, was_cut FROM looseleaf.erase(m, number, is_log, head.posted) e;
    UPDATE looseleaf.indexes h SET
        version = h.version + 1, acts = (act || h.acts)[:8],
        erased = h.erased + least(cardinality(gone), 1), cut = h.cut + was_cut::int
    WHERE h.memory = m;
END $$;

-- Remove the whole index of a memory.
CREATE FUNCTION looseleaf.clear_index(m bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM looseleaf.lock_index(m);
    DELETE FROM looseleaf.indexes x WHERE x.memory = m;
    DELETE FROM looseleaf.sources x WHERE x.memory = m;
    DELETE FROM looseleaf.sessions x WHERE x.memory = m;
    DELETE FROM looseleaf.items x WHERE x.memory = m;
    DELETE FROM looseleaf.means x WHERE x.memory = m;
    DELETE FROM looseleaf.speakers x WHERE x.memory = m;
    DELETE FROM looseleaf.past x WHERE x.memory = m;
    DELETE FROM looseleaf.words x WHERE x.memory = m;
    DELETE FROM looseleaf.postings x WHERE x.memory = m;
    DELETE FROM looseleaf.lines x WHERE x.memory = m;
END $$;

-- --- questions ---------------------------------------------------------------------------

-- What a question needs first: the state of the index, the marks of logs, the mean lengths, the names of speakers, and
-- the terms of items that are not posted: those after an item, if that is of the same making and cut.
CREATE FUNCTION looseleaf.look(
    m bigint, known_making bigint, known_cut bigint, after int, most_names int,
    OUT making bigint, OUT erased bigint, OUT cut bigint, OUT posted int, OUT word int,
    OUT names text[], OUT marks text[], OUT kinds text[], OUT roles text[], OUT items bigint[], OUT terms bigint[],
    OUT speakers text[], OUT waiting int[], OUT waiting_terms text[]
) LANGUAGE plpgsql STABLE SET jit = off SET plan_cache_mode = force_generic_plan AS $$
BEGIN
    SELECT h.making, h.erased, h.cut, h.posted, h.word INTO making, erased, cut, posted, word
    FROM looseleaf.indexes h WHERE h.memory = m;
    SELECT array_agg(s.name), array_agg(s.mark) INTO names, marks
    FROM looseleaf.sources s WHERE s.memory = m AND strpos(s.name, ':') = 0;
    SELECT array_agg(x.kind), array_agg(x.role), array_agg(x.items), array_agg(x.terms)
    INTO kinds, roles, items, terms FROM looseleaf.means x WHERE x.memory = m AND x.items > 0;
    speakers := ARRAY(
        SELECT x.name FROM looseleaf.speakers x WHERE x.memory = m
        GROUP BY x.name HAVING sum(x.items) > 1 ORDER BY sum(x.items) DESC, x.name LIMIT most_names);
    SELECT array_agg(i.item), array_agg(i.terms) INTO waiting, waiting_terms FROM looseleaf.items i
    WHERE i.memory = m AND i.item > CASE
        WHEN making = known_making AND cut = known_cut THEN greatest(after, posted) ELSE posted END;
END $$;

-- The sources of an agent's own talk, on all machines.
CREATE FUNCTION looseleaf.sources_of(m bigint, agent text) RETURNS int[] LANGUAGE sql STABLE
    RETURN (
        SELECT coalesce(array_agg(s.source), '{}') FROM looseleaf.sources s
        WHERE s.memory = m AND (
            s.key = looseleaf.key_of('traces/' || agent)
            OR (s.key > 'on/' AND s.key < 'on0' AND right(s.name, length(agent) + 8) = '/traces/' || agent)));

CREATE FUNCTION looseleaf.sources_named(m bigint, names text[]) RETURNS int[] LANGUAGE sql STABLE
    RETURN (
        SELECT coalesce(array_agg(s.source), '{}') FROM unnest(names) AS n (name)
        JOIN looseleaf.sources s ON s.memory = m AND s.key = looseleaf.key_of(n.name));

-- Whether a filter allows an item. NULL allows all.
CREATE FUNCTION looseleaf.is_allowed(
    kind text, topic text, source int, ts float8, status text,
    kinds text[], of_topic text, own int[], since float8, until float8, past boolean, hidden int[]
) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN (kinds IS NULL OR kind = ANY (kinds))
        AND (of_topic IS NULL OR topic = of_topic)
        AND (own IS NULL OR kind <> 'trace' OR source = ANY (own))
        AND (since IS NULL OR ts >= since)
        AND (until IS NULL OR ts <= until OR (past AND kind = 'fact'))
        AND (past OR status IN ('', 'current'))
        AND (hidden IS NULL OR source <> ALL (hidden));

-- An item as the ranking sees it; neighbours that were not asked for stand at a place below 0.
CREATE TYPE looseleaf.doc AS (
    place int, item int, terms text, session int, seq int, speaker text, role text, kind text, ts float8, level text
);

CREATE TYPE looseleaf.found_item AS (
    item int, source text, kind text, name text, hash bigint, session text, speaker text, role text, ts float8,
    level text, status text, topic text, segment int, byte bigint, first int, last int
);

-- Items in the order given.
CREATE FUNCTION looseleaf.docs(m bigint, ids int[]) RETURNS SETOF looseleaf.doc LANGUAGE sql STABLE
    BEGIN ATOMIC
    SELECT u.place::int, i.item, i.terms, i.session, i.seq, i.speaker, i.role, i.kind, i.ts, i.level
    FROM unnest(ids) WITH ORDINALITY AS u (item, place)
    CROSS JOIN LATERAL (SELECT x.* FROM looseleaf.items x WHERE x.memory = m AND x.item = u.item OFFSET 0) i
    ORDER BY u.place;
    END;

-- All that is known of items, in the order given.
CREATE FUNCTION looseleaf.found(m bigint, ids int[]) RETURNS SETOF looseleaf.found_item LANGUAGE sql STABLE
    BEGIN ATOMIC
    SELECT i.item, (SELECT s.name FROM looseleaf.sources s WHERE s.memory = m AND s.source = i.source), i.kind, i.name,
        i.hash, coalesce((SELECT n.name FROM looseleaf.sessions n WHERE n.memory = m AND n.session = i.session), ''),
        i.speaker, i.role, i.ts, i.level, i.status, i.topic, i.segment, i.byte, i.first, i.last
    FROM unnest(ids) WITH ORDINALITY AS u (item, place)
    CROSS JOIN LATERAL (SELECT x.* FROM looseleaf.items x WHERE x.memory = m AND x.item = u.item OFFSET 0) i
    ORDER BY u.place;
    END;

-- In how many posted items each of these terms stands; only those that stand in one.
CREATE FUNCTION looseleaf.frequencies(m bigint, asked text[]) RETURNS TABLE (term text, items int)
LANGUAGE plpgsql STABLE SET jit = off SET plan_cache_mode = force_generic_plan AS $$
BEGIN
    RETURN QUERY
    SELECT t.term, w.items FROM unnest(asked) AS t (term)
    CROSS JOIN LATERAL (
        SELECT x.items FROM looseleaf.words x WHERE x.memory = m AND x.term = looseleaf.key_of(t.term) OFFSET 0) w
    WHERE w.items > 0;
END $$;

-- The likeliest items, best first: those with postings that have `chosen` terms, each with its weight; with `needed`, an
-- item must have that term and another one. `mean`: the mean length of all items. `waiting`: items without postings, with
-- their scores. At most `alike` passages of one text, or of the same words. Neighbours within `reach` come after them, at
-- places below 0.
CREATE FUNCTION looseleaf.candidates(
    m bigint, chosen text[], weights float8[], needed text, mean float8, waiting int[], scores float8[], most int,
    alike int, deeper int, reach int,
    kinds text[], of_topic text, agent text, since float8, until float8, past boolean, hidden text[]
) RETURNS SETOF looseleaf.doc LANGUAGE plpgsql STABLE SET jit = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    posted_to int;
    own int[] := CASE WHEN agent IS NOT NULL THEN looseleaf.sources_of(m, agent) END;
    unseen int[] := CASE WHEN hidden IS NOT NULL THEN looseleaf.sources_named(m, hidden) END;
    sorts int[] := (SELECT array_agg(looseleaf.sort_of(k, '')) FROM unnest(kinds) AS u (k));
    depth bigint := 2 * most;
    looked bigint;
    ids int[];
BEGIN
    SELECT h.posted INTO posted_to FROM looseleaf.indexes h WHERE h.memory = m;
    LOOP
        WITH chosen_words AS MATERIALIZED (
            SELECT w.word, u.term, u.weight FROM unnest(chosen, weights) AS u (term, weight)
            CROSS JOIN LATERAL (
                SELECT x.word FROM looseleaf.words x WHERE x.memory = m AND x.term = looseleaf.key_of(u.term) OFFSET 0) w),
        scored AS MATERIALIZED (
            SELECT p.item, sum(w.weight * p.tf * 2.2::float8 / (p.tf + 0.3::float8 + 0.9::float8 * p.len / mean)) AS score
            FROM chosen_words w CROSS JOIN LATERAL (
                SELECT x.item, x.tf::float8 AS tf, x.len::float8 AS len FROM looseleaf.postings x
                WHERE x.memory = m AND x.word = w.word
                    AND (past OR x.sort < 64) AND (sorts IS NULL OR (x.sort & 63) = ANY (sorts)) OFFSET 0) p
            GROUP BY p.item
            HAVING needed IS NULL OR (count(*) > 1 AND bool_or(w.term = needed))
            ORDER BY 2 DESC, 1 LIMIT depth),
        either AS (
            SELECT s.item, s.score FROM scored s
            UNION ALL SELECT u.item, u.score FROM unnest(waiting, scores) AS u (item, score) WHERE u.item > posted_to),
        allowed AS (
            SELECT s.item, s.score, i.hash,
                CASE WHEN i.kind IN ('trace', 'entry') THEN i.source END AS of_source,
                CASE WHEN i.kind IN ('trace', 'entry') THEN i.name ELSE s.item::text END AS of_text
            FROM either s CROSS JOIN LATERAL (
                SELECT x.* FROM looseleaf.items x WHERE x.memory = m AND x.item = s.item OFFSET 0) i
            WHERE looseleaf.is_allowed(
                i.kind, i.topic, i.source, i.ts, i.status, kinds, of_topic, own, since, until, past, unseen)
            ORDER BY s.score DESC, s.item LIMIT most * deeper),
        told AS (
            SELECT a.item, a.score,
                row_number() OVER (PARTITION BY a.of_source, a.of_text ORDER BY a.score DESC, a.item) AS of_one_text,
                row_number() OVER (PARTITION BY a.hash ORDER BY a.score DESC, a.item) AS of_same_words
            FROM allowed a)
        SELECT (SELECT count(*) FROM scored),
            (array_agg(t.item ORDER BY t.score DESC, t.item)
                FILTER (WHERE t.of_one_text <= alike AND t.of_same_words <= alike))[:most]
        INTO looked, ids FROM told t;
        -- Of a filter that allows little, or a text that is often said, the rest is looked at too.
        EXIT WHEN looked < depth OR cardinality(ids) >= most;
        depth := 2147483647;
    END LOOP;
    RETURN QUERY SELECT * FROM looseleaf.docs(m, ids);
    IF reach > 0 THEN
        RETURN QUERY
        SELECT DISTINCT ON (n.item) -1, n.item, n.terms, n.session, n.seq, n.speaker, n.role, n.kind, n.ts, n.level
        FROM unnest(ids) AS u (item)
        CROSS JOIN LATERAL (
            SELECT x.session, x.seq FROM looseleaf.items x WHERE x.memory = m AND x.item = u.item OFFSET 0) i
        CROSS JOIN LATERAL (
            SELECT x.* FROM looseleaf.items x
            WHERE x.memory = m AND x.session = i.session AND x.seq >= i.seq - reach AND x.seq <= i.seq + reach OFFSET 0) n
        WHERE n.item <> ALL (ids);
    END IF;
END $$;

CREATE FUNCTION looseleaf.within(
    m bigint, earliest float8, latest float8, most int,
    kinds text[], of_topic text, agent text, since float8, until float8, past boolean, hidden text[]
) RETURNS SETOF looseleaf.doc LANGUAGE plpgsql STABLE SET jit = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    own int[] := CASE WHEN agent IS NOT NULL THEN looseleaf.sources_of(m, agent) END;
    unseen int[] := CASE WHEN hidden IS NOT NULL THEN looseleaf.sources_named(m, hidden) END;
BEGIN
    RETURN QUERY
        SELECT 1, i.item, i.terms, i.session, i.seq, i.speaker, i.role, i.kind, i.ts, i.level FROM looseleaf.items i
        WHERE i.memory = m AND i.ts IS NOT NULL AND i.ts >= earliest AND i.ts <= latest AND looseleaf.is_allowed(
            i.kind, i.topic, i.source, i.ts, i.status, kinds, of_topic, own, since, until, past, unseen)
        ORDER BY i.ts DESC LIMIT most;
END $$;

CREATE FUNCTION looseleaf.by_hash(
    m bigint, hashes bigint[],
    kinds text[], of_topic text, agent text, since float8, until float8, past boolean, hidden text[]
) RETURNS SETOF looseleaf.doc LANGUAGE plpgsql STABLE SET jit = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    own int[] := CASE WHEN agent IS NOT NULL THEN looseleaf.sources_of(m, agent) END;
    unseen int[] := CASE WHEN hidden IS NOT NULL THEN looseleaf.sources_named(m, hidden) END;
BEGIN
    RETURN QUERY SELECT f.* FROM looseleaf.docs(m, ARRAY(
        SELECT i.item FROM (SELECT DISTINCT h FROM unnest(hashes) AS a (h)) u
        CROSS JOIN LATERAL (SELECT x.* FROM looseleaf.items x WHERE x.memory = m AND x.hash = u.h OFFSET 0) i
        WHERE looseleaf.is_allowed(
            i.kind, i.topic, i.source, i.ts, i.status, kinds, of_topic, own, since, until, past, unseen))) f;
END $$;

-- The items of these stretches of sessions.
CREATE FUNCTION looseleaf.near(m bigint, in_sessions int[], firsts int[], lasts int[], without int[])
RETURNS SETOF looseleaf.doc LANGUAGE plpgsql STABLE SET jit = off SET plan_cache_mode = force_generic_plan AS $$
BEGIN
    RETURN QUERY
    SELECT -1, i.item, i.terms, i.session, i.seq, i.speaker, i.role, i.kind, i.ts, i.level
    FROM unnest(in_sessions, firsts, lasts) AS u (session, first, last)
    CROSS JOIN LATERAL (
        SELECT x.* FROM looseleaf.items x
        WHERE x.memory = m AND x.session = u.session AND x.seq >= u.first AND x.seq <= u.last OFFSET 0) i
    WHERE i.item <> ALL (without);
END $$;

-- The words to choose other spellings from: those of posted items, after a word.
CREATE FUNCTION looseleaf.vocabulary(
    m bigint, after int, fewest int, longest int,
    OUT making bigint, OUT erased bigint, OUT word int, OUT words text[]
) LANGUAGE plpgsql STABLE AS $$
BEGIN
    SELECT h.making, h.erased, h.word INTO making, erased, word FROM looseleaf.indexes h WHERE h.memory = m;
    words := ARRAY(
        SELECT x.term FROM looseleaf.words x
        WHERE x.memory = m AND x.word > after AND length(x.term) BETWEEN fewest AND longest);
END $$;

-- Lines that have all these parts of words, the newest first; of a log, or of all sources but talk. `is_common`: each
-- part stands in more than `forms` different words of these lines.
CREATE FUNCTION looseleaf.said(
    m bigint, of_source text, parts text[], before int, most int, forms int,
    OUT is_common boolean, OUT lines int[], OUT segments int[], OUT bytes bigint[], OUT sources text[]
) LANGUAGE plpgsql STABLE SET jit = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    kept text[];
    p text[] := parts || array_fill(''::text, ARRAY[8]);
BEGIN
    IF of_source IS NOT NULL THEN
        SELECT array_agg(h.line), array_agg(h.segment), array_agg(h.byte), array_agg(h.words)
        INTO lines, segments, bytes, kept FROM (
            SELECT l.line, l.segment, l.byte, l.words FROM looseleaf.lines l
            WHERE l.memory = m AND l.line < before
                AND l.source = (SELECT s.source FROM looseleaf.sources s WHERE s.memory = m AND s.key = looseleaf.key_of(of_source))
                AND strpos(l.words, p[1]) > 0 AND strpos(l.words, p[2]) > 0 AND strpos(l.words, p[3]) > 0
                AND strpos(l.words, p[4]) > 0 AND strpos(l.words, p[5]) > 0 AND strpos(l.words, p[6]) > 0
                AND strpos(l.words, p[7]) > 0 AND strpos(l.words, p[8]) > 0
            ORDER BY l.line DESC LIMIT most) h;
    ELSE
        WITH hits AS MATERIALIZED (
            SELECT l.source, l.words FROM looseleaf.lines l
            WHERE l.memory = m
                AND strpos(l.words, p[1]) > 0 AND strpos(l.words, p[2]) > 0 AND strpos(l.words, p[3]) > 0
                AND strpos(l.words, p[4]) > 0 AND strpos(l.words, p[5]) > 0 AND strpos(l.words, p[6]) > 0
                AND strpos(l.words, p[7]) > 0 AND strpos(l.words, p[8]) > 0)
        SELECT ARRAY(
                SELECT s.name FROM looseleaf.sources s
                WHERE s.memory = m AND NOT looseleaf.is_talk(s.name) AND s.source IN (SELECT h.source FROM hits h)),
            ARRAY(SELECT h.words FROM hits h LIMIT most)
        INTO sources, kept;
    END IF;
    is_common := before = 2147483647 AND (
        SELECT bool_and((
            SELECT count(DISTINCT w.word) > forms
            FROM unnest(kept) AS k (words), unnest(string_to_array(k.words, ' ')) AS w (word)
            WHERE strpos(' ' || w.word || ' ', a.part) > 0))
        FROM unnest(parts) AS a (part));
END $$;

-- Whether the items of a source are what was said.
CREATE FUNCTION looseleaf.is_talk(name text) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN split_part(name, '/', CASE WHEN starts_with(name, 'on/') THEN 3 ELSE 1 END) = 'traces';

-- --- vectors -----------------------------------------------------------------------------

-- The number of a model that makes vectors of so many numbers, made if it is missing; alone until the end.
CREATE FUNCTION looseleaf.begin_vectors(m bigint, of_model text, numbers int, OUT model int, OUT dimensions int, OUT place int)
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('synchronous_commit', 'off', true);
    PERFORM pg_advisory_xact_lock(hashtext(m::text), 3);
    INSERT INTO looseleaf.models (memory, model, name, making, dimensions)
    SELECT m, coalesce(max(x.model), 0) + 1, of_model, nextval('looseleaf.makings'), numbers
    FROM looseleaf.models x WHERE x.memory = m
    ON CONFLICT (memory, key) DO NOTHING;
    SELECT x.model, x.dimensions, x.place INTO model, dimensions, place
    FROM looseleaf.models x WHERE x.memory = m AND x.key = looseleaf.key_of(of_model);
END $$;

-- Add vectors; a text that has one keeps it. `dimensions`: those of the model; nothing is added to one of others.
CREATE FUNCTION looseleaf.add_vectors(
    m bigint, of_model text, numbers int, hashes bigint[], vs bytea[], OUT dimensions int, OUT added bigint
) LANGUAGE plpgsql AS $$
DECLARE
    head record;
BEGIN
    head := looseleaf.begin_vectors(m, of_model, numbers);
    dimensions := head.dimensions;
    IF dimensions <> numbers THEN
        RETURN;
    END IF;
    WITH new AS (
        INSERT INTO looseleaf.vectors (memory, model, hash, place, v)
        SELECT m, head.model, u.hash, head.place + u.place, u.v
        FROM unnest(hashes, vs) WITH ORDINALITY AS u (hash, v, place)
        ON CONFLICT (memory, model, hash) DO NOTHING RETURNING hash)
    SELECT count(*) INTO added FROM new;
    UPDATE looseleaf.models x SET place = x.place + cardinality(hashes) WHERE x.memory = m AND x.model = head.model;
END $$;

-- The vectors after a place, if they are of the same making and none was removed since; else all. At most so many.
CREATE FUNCTION looseleaf.vectors_after(
    m bigint, of_model text, known_making bigint, known_erased bigint, after int, most int,
    OUT making bigint, OUT erased bigint, OUT dimensions int, OUT place int, OUT hashes bigint[], OUT vs bytea[]
) LANGUAGE plpgsql STABLE SET jit = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    number int;
    begins int;
BEGIN
    SELECT x.model, x.making, x.erased, x.dimensions INTO number, making, erased, dimensions
    FROM looseleaf.models x WHERE x.memory = m AND x.key = looseleaf.key_of(of_model);
    begins := CASE WHEN making = known_making AND erased = known_erased THEN after ELSE 0 END;
    SELECT coalesce(max(s.place), begins), coalesce(array_agg(s.hash), '{}'), coalesce(array_agg(s.v), '{}')
    INTO place, hashes, vs FROM (
        SELECT x.place, x.hash, x.v FROM looseleaf.vectors x
        WHERE x.memory = m AND x.model = number AND x.place > begins ORDER BY x.place LIMIT most) s;
END $$;

-- Have vectors compared in the database, once it is known that pgvector does not kill the server. For the tables' owner.
CREATE PROCEDURE looseleaf.use_pgvector() LANGUAGE plpgsql AS $$
DECLARE
    place text;
BEGIN
    SELECT n.nspname INTO place FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'vector';
    IF place IS NULL OR EXISTS (
        SELECT FROM pg_attribute a
        WHERE a.attrelid = to_regclass('looseleaf.halfvectors') AND a.attname = 'v' AND NOT a.attisdropped) THEN
        RETURN;
    END IF;
    DROP TABLE IF EXISTS looseleaf.halfvectors;  -- the extension was dropped meanwhile, and took the column along
    EXECUTE format(
        'CREATE TABLE looseleaf.halfvectors (memory bigint NOT NULL, model int NOT NULL, hash bigint NOT NULL, '
        'v %I.halfvec NOT NULL, PRIMARY KEY (memory, model, hash)) PARTITION BY HASH (memory)', place);
    ALTER TABLE looseleaf.halfvectors ALTER COLUMN v SET STORAGE MAIN;
    CALL looseleaf.part('halfvectors');
    EXECUTE format($make$
        CREATE OR REPLACE FUNCTION looseleaf.add_halfvectors(
            m bigint, of_model text, numbers int, hashes bigint[], vs text[], OUT dimensions int, OUT added bigint
        ) LANGUAGE plpgsql SET search_path = %1$I, pg_catalog AS $body$
        DECLARE
            head record;
        BEGIN
            head := looseleaf.begin_vectors(m, of_model, numbers);
            dimensions := head.dimensions;
            IF dimensions <> numbers THEN
                RETURN;
            END IF;
            WITH new AS (
                INSERT INTO looseleaf.halfvectors (memory, model, hash, v)
                SELECT m, head.model, u.hash, u.v::halfvec FROM unnest(hashes, vs) AS u (hash, v)
                ON CONFLICT (memory, model, hash) DO NOTHING RETURNING hash)
            SELECT count(*) INTO added FROM new;
        END $body$;

        -- The nearest vectors, and their cosines: of all, by the index of a large memory; or of some texts, exactly.
        CREATE OR REPLACE FUNCTION looseleaf.nearest(m bigint, of_model text, asked text, most int, among bigint[])
        RETURNS TABLE (hash bigint, cosine float8) LANGUAGE plpgsql STABLE SET search_path = %1$I, pg_catalog
        SET jit = off AS $body$
        DECLARE
            number int;
            dimensions int;
        BEGIN
            SELECT x.model, x.dimensions INTO number, dimensions
            FROM looseleaf.models x WHERE x.memory = m AND x.key = looseleaf.key_of(of_model);
            IF number IS NULL THEN
                RETURN;
            END IF;
            IF among IS NOT NULL THEN
                RETURN QUERY
                SELECT h.hash, -(h.v <#> asked::halfvec) FROM (SELECT DISTINCT a FROM unnest(among) AS u (a)) u
                CROSS JOIN LATERAL (
                    SELECT x.hash, x.v FROM looseleaf.halfvectors x
                    WHERE x.memory = m AND x.model = number AND x.hash = u.a OFFSET 0) h
                ORDER BY 2 DESC LIMIT most;
                RETURN;
            END IF;
            PERFORM set_config('hnsw.ef_search', least(1000, greatest(100, 2 * most))::text, true);
            -- The numbers stand in the text: only so is the index of this memory known to fit.
            RETURN QUERY EXECUTE format(
                'SELECT x.hash, -(x.v::halfvec(%%1$s) <#> $1::halfvec) FROM looseleaf.halfvectors x '
                'WHERE x.memory = %%2$s AND x.model = %%3$s ORDER BY x.v::halfvec(%%1$s) <#> $1::halfvec LIMIT $2',
                dimensions, m, number) USING asked, most;
        END $body$;
    $make$, place);
END $$;

-- --- faults ------------------------------------------------------------------------------

-- What is wrong with an index; nothing, unless this program is.
CREATE FUNCTION looseleaf.index_faults(m bigint) RETURNS SETOF text LANGUAGE sql STABLE SET jit = off SET plan_cache_mode = force_generic_plan
    BEGIN ATOMIC
    SELECT format('%s %s: %s of %s items are counted', coalesce(a.kind, b.kind), coalesce(a.role, b.role), b.items, a.items)
    FROM (
        SELECT i.kind, i.role, count(*) AS items, sum(i.len) AS terms FROM looseleaf.items i
        WHERE i.memory = m GROUP BY i.kind, i.role) a
    FULL JOIN (SELECT x.* FROM looseleaf.means x WHERE x.memory = m AND (x.items <> 0 OR x.terms <> 0)) b
        ON a.kind = b.kind AND a.role = b.role
    WHERE (a.items, a.terms) IS DISTINCT FROM (b.items, b.terms)
    UNION ALL
    SELECT format('word %s: %s of %s items are counted', coalesce(a.word, b.word), b.items, a.items)
    FROM (SELECT p.word, count(*) AS items FROM looseleaf.postings p WHERE p.memory = m GROUP BY p.word) a
    FULL JOIN (SELECT x.* FROM looseleaf.words x WHERE x.memory = m) b ON a.word = b.word
    WHERE a.items IS DISTINCT FROM b.items
    UNION ALL
    SELECT format('item %s: posted with %s of %s terms', coalesce(a.item, b.item), b.terms, a.terms)
    FROM (
        SELECT i.item, count(DISTINCT looseleaf.key_of(t.term)) AS terms
        FROM looseleaf.items i JOIN looseleaf.indexes h ON h.memory = m AND i.item <= h.posted
        CROSS JOIN LATERAL unnest(string_to_array(i.terms, ' ')) AS t (term) WHERE i.memory = m GROUP BY i.item) a
    FULL JOIN (
        SELECT p.item, count(*) AS terms FROM looseleaf.postings p WHERE p.memory = m GROUP BY p.item) b ON a.item = b.item
    WHERE a.terms IS DISTINCT FROM b.terms
    UNION ALL
    SELECT format('session %s: its next place is taken', n.session) FROM looseleaf.sessions n
    WHERE n.memory = m AND n.next IS DISTINCT FROM (
        SELECT max(i.seq) + 1 FROM looseleaf.items i WHERE i.memory = m AND i.session = n.session)
    UNION ALL
    SELECT format('item %s: of no source or session', i.item) FROM looseleaf.items i
    WHERE i.memory = m AND (
        NOT EXISTS (SELECT FROM looseleaf.sources s WHERE s.memory = m AND s.source = i.source)
        OR (i.session IS NOT NULL AND NOT EXISTS (
            SELECT FROM looseleaf.sessions n WHERE n.memory = m AND n.session = i.session)))
    UNION ALL
    SELECT format('speaker %s: %s of %s items are counted', coalesce(a.speaker, b.name), b.items, a.items)
    FROM (
        SELECT i.source, i.speaker, count(*) AS items FROM looseleaf.items i
        WHERE i.memory = m AND i.speaker <> '' GROUP BY i.source, i.speaker) a
    FULL JOIN (SELECT x.* FROM looseleaf.speakers x WHERE x.memory = m) b ON a.source = b.source AND a.speaker = b.name
    WHERE a.items IS DISTINCT FROM b.items;
    END;

-- Remove what follows from the rest. Vectors are numbers by the hash of a text, and hold no words: they stay.
CREATE OR REPLACE FUNCTION looseleaf.clear_views(m bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    durable text := current_setting('synchronous_commit');
BEGIN
    DELETE FROM looseleaf.documents d
    WHERE d.memory = m AND (d.folder = 'views' OR (d.folder >= 'views/' AND d.folder < 'views0'));
    PERFORM looseleaf.clear_index(m);
    -- The index may be lost; what forgets, and clears it in the same act, may not.
    PERFORM set_config('synchronous_commit', durable, true);
END $$;
