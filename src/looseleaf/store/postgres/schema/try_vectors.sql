BEGIN;
CREATE EXTENSION IF NOT EXISTS vector;
CREATE TEMP TABLE tried ON COMMIT DROP AS
    SELECT n, v::halfvec(384) AS h, v::vector(384) AS v
    FROM (SELECT n, array_agg(sin(n * d) ORDER BY d)::float4[] AS v
        FROM generate_series(1, 60) n, generate_series(1, 384) d GROUP BY n) AS made;
CREATE INDEX ON tried USING hnsw (h halfvec_ip_ops);
CREATE INDEX ON tried USING hnsw (h halfvec_cosine_ops);
CREATE INDEX ON tried USING hnsw (v vector_cosine_ops);
SET LOCAL enable_seqscan = off;
SELECT n FROM tried ORDER BY h <#> (SELECT h FROM tried WHERE n = 7) LIMIT 5;
SELECT n FROM tried ORDER BY h <=> (SELECT h FROM tried WHERE n = 7) LIMIT 5;
SELECT n FROM tried ORDER BY v <=> (SELECT v FROM tried WHERE n = 7) LIMIT 5;
SELECT a.h <#> b.h, a.h <=> b.h, a.h <-> b.h, a.h <+> b.h, a.v <#> b.v, a.v <=> b.v, a.v <-> b.v, a.v <+> b.v,
    l2_normalize(a.h), l2_norm(a.h), a.h + b.h, binary_quantize(a.h) <~> binary_quantize(b.h), sum(a.h) OVER ()
    FROM tried a, tried b WHERE a.n < 3 AND b.n < 3;
ROLLBACK;
