-- The pipeline's rows: claiming what waits, and counting it, whoever's it is.

-- Takes up to `batch` rows that wait at `at_stage`, oldest first, and hides them for the length of a lease.
-- SKIP LOCKED: two drains must take different rows. The lease outlives the transaction, so that the work
-- itself is done outside of one; a worker that dies simply lets it run out.
-- Rows that were tried before come alone, after the fresh ones: whatever kills a worker harms no neighbour.
CREATE OR REPLACE FUNCTION longtail.claim_work(at_stage text, batch integer, lease interval)
RETURNS TABLE (item_id uuid, tenant_id uuid, kind text, namespace text, seq bigint, attempts smallint)
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = longtail, pg_temp
AS $$
    WITH fresh AS (
        SELECT waiting.item_id FROM work AS waiting
        WHERE waiting.stage = at_stage AND waiting.stage IN ('accepted', 'ingested', 'embedded')
          AND waiting.attempts = 0 AND waiting.not_before <= clock_timestamp()
        ORDER BY waiting.seq LIMIT batch FOR UPDATE SKIP LOCKED
    ), tried AS (
        SELECT waiting.item_id FROM work AS waiting
        WHERE waiting.stage = at_stage AND waiting.stage IN ('accepted', 'ingested', 'embedded')
          AND waiting.attempts > 0 AND waiting.not_before <= clock_timestamp()
          AND NOT EXISTS (SELECT FROM fresh)
        ORDER BY waiting.not_before, waiting.seq LIMIT 1 FOR UPDATE SKIP LOCKED
    )
    UPDATE work SET not_before = clock_timestamp() + lease, attempts = work.attempts + 1,
                    updated_at = clock_timestamp()
    FROM (SELECT fresh.item_id FROM fresh UNION ALL SELECT tried.item_id FROM tried) AS taken
    WHERE work.item_id = taken.item_id
    RETURNING work.item_id, work.tenant_id, work.kind, work.namespace, work.seq, work.attempts
$$;

-- How much waits at each stage and is free to be taken now: what the sweep rings bells for.
CREATE OR REPLACE FUNCTION longtail.ready_work()
RETURNS TABLE (stage text, ready bigint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = longtail, pg_temp
AS $$
    SELECT work.stage, count(*) FROM work
    WHERE work.stage IN ('accepted', 'ingested', 'embedded') AND work.not_before <= clock_timestamp()
    GROUP BY work.stage
$$;
