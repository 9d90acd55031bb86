-- serves: 1
-- What a server of many memories needs besides: their names, and putting one aside (docs/SERVE.md).

-- The names of memories after one, in their order. Names that begin with a dot are the program's own.
CREATE FUNCTION looseleaf.list_memories(after text, most int) RETURNS TABLE (memory bigint, namespace text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = looseleaf, pg_temp AS $$
    SELECT k.memory, k.namespace FROM memories k
    WHERE k.namespace > after COLLATE "C" AND left(k.namespace, 1) <> '.' AND k.state = 'here' ORDER BY k.namespace LIMIT most
$$;

-- Put a memory aside under another name: it is closed for all that write, and servers are told. False: it was not here.
CREATE FUNCTION looseleaf.put_aside(m bigint, aside text) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(m);
    UPDATE looseleaf.memories SET namespace = aside, state = 'left', note = aside WHERE memory = m AND state = 'here';
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    UPDATE looseleaf.streams SET closed = true WHERE memory = m;
    PERFORM pg_notify('looseleaf', m::text || ' .removed');
    RETURN true;
END $$;

-- The memories that were put aside before a time, which their names tell in seconds: `.removed/<seconds>/<name>`.
CREATE FUNCTION looseleaf.aside_before(moment bigint, most int) RETURNS TABLE (memory bigint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = looseleaf, pg_temp AS $$
    SELECT k.memory FROM memories k
    WHERE k.namespace >= '.removed/' AND k.namespace < '.removed0' AND split_part(k.namespace, '/', 2) ~ '^[0-9]{1,12}$'
        AND split_part(k.namespace, '/', 2)::bigint < moment
    ORDER BY k.namespace LIMIT most
$$;

-- Remove the row of a memory that was put aside, when all else of it is gone.
CREATE FUNCTION looseleaf.end_memory(m bigint) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = looseleaf, pg_temp AS $$
    DELETE FROM memories k WHERE k.memory = m AND k.namespace >= '.removed/' AND k.namespace < '.removed0'
$$;
