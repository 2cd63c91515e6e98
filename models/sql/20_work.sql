-- The pipeline's rows: claiming what waits, and counting it, whoever's it is.

-- Whether nobody holds a row and no pause is on: a fresh one, or one whose time has come. No lease and no pause is as long
-- as a quarter of an hour; one that seems to be was written before the clock was set back.
CREATE OR REPLACE FUNCTION longtail.is_free(attempts smallint, not_before timestamptz)
RETURNS boolean
LANGUAGE sql VOLATILE
RETURN attempts = 0 OR not_before <= clock_timestamp() OR not_before > clock_timestamp() + interval '15 minutes';

-- Takes up to `batch` rows that wait at `at_stage` and hides them for the length of a lease, which its holder renews for
-- as long as it lives (`hold_work`). The lease outlives the transaction, so that the work itself is done outside of one.
-- Every tenant that waits gets the same share of a batch, and its oldest rows first: one tenant's flood delays the others
-- by a batch. Rows that were tried before come alone: whatever kills a worker harms no neighbour. They come after the
-- fresh ones, but no later than a lease after their time, so that a flood does not hold them back for good.
-- SKIP LOCKED: two drains must take different rows. With its rows a worker gets the pass of each tenant they are of.
CREATE OR REPLACE FUNCTION longtail.claim_work(at_stage text, batch integer, lease interval)
RETURNS TABLE (
    item_id uuid, tenant_id uuid, kind text, namespace text, seq bigint, attempts smallint, lease_id uuid,
    pass uuid)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = longtail, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    holder uuid := gen_random_uuid();
    waiting uuid[];
    room integer := batch;
    share integer;
    taken uuid[];
    overdue uuid;
BEGIN
    PERFORM set_config('longtail.across', 'on', true);  -- every tenant's rows, see 80_row_security.sql
    SELECT tried.item_id INTO overdue FROM work AS tried
    WHERE tried.stage = at_stage AND tried.stage IN ('accepted', 'ingested', 'embedded') AND tried.attempts > 0
      AND tried.not_before <= clock_timestamp() - lease
    ORDER BY tried.not_before, tried.seq LIMIT 1 FOR UPDATE SKIP LOCKED;

    IF overdue IS NULL THEN
        -- One step of the index for each tenant, however many rows it has.
        WITH RECURSIVE tenants AS (
            (SELECT work.tenant_id FROM work
             WHERE work.stage = at_stage AND work.stage IN ('accepted', 'ingested', 'embedded')
             ORDER BY work.tenant_id LIMIT 1)
            UNION ALL
            SELECT (SELECT work.tenant_id FROM work
                    WHERE work.stage = at_stage AND work.stage IN ('accepted', 'ingested', 'embedded')
                      AND work.tenant_id > tenants.tenant_id
                    ORDER BY work.tenant_id LIMIT 1)
            FROM tenants WHERE tenants.tenant_id IS NOT NULL
        )
        SELECT array_agg(chosen.tenant_id) INTO waiting
        FROM (SELECT tenants.tenant_id FROM tenants WHERE tenants.tenant_id IS NOT NULL
              ORDER BY random() LIMIT batch) AS chosen;

        -- First everybody's share, then, where there is room left, whoever has more.
        FOREACH share IN ARRAY ARRAY[greatest(1, batch / cardinality(waiting)), batch] LOOP
            EXIT WHEN room = 0;
            WITH picked AS (
                SELECT oldest.item_id FROM unnest(waiting) AS of_tenant CROSS JOIN LATERAL (
                    SELECT fresh.item_id FROM work AS fresh
                    WHERE fresh.stage = at_stage AND fresh.stage IN ('accepted', 'ingested', 'embedded')
                      AND fresh.tenant_id = of_tenant AND fresh.attempts = 0
                    ORDER BY fresh.seq LIMIT share FOR UPDATE SKIP LOCKED) AS oldest
                LIMIT room
            ), held AS (
                UPDATE work SET not_before = clock_timestamp() + lease, attempts = 1, lease_id = holder,
                                updated_at = clock_timestamp()
                FROM picked WHERE work.item_id = picked.item_id
                RETURNING work.item_id
            )
            SELECT taken || array_agg(held.item_id), room - count(*) INTO taken, room FROM held;
        END LOOP;
    END IF;

    IF taken IS NULL THEN
        WITH picked AS (
            SELECT tried.item_id FROM work AS tried
            WHERE tried.stage = at_stage AND tried.stage IN ('accepted', 'ingested', 'embedded') AND tried.attempts > 0
              AND longtail.is_free(tried.attempts, tried.not_before) AND (overdue IS NULL OR tried.item_id = overdue)
            ORDER BY tried.not_before, tried.seq LIMIT 1 FOR UPDATE SKIP LOCKED
        ), held AS (
            UPDATE work SET not_before = clock_timestamp() + lease, attempts = work.attempts + 1, lease_id = holder,
                            updated_at = clock_timestamp()
            FROM picked WHERE work.item_id = picked.item_id
            RETURNING work.item_id
        )
        SELECT array_agg(held.item_id) INTO taken FROM held;
    END IF;

    RETURN QUERY
    SELECT work.item_id, work.tenant_id, work.kind, work.namespace, work.seq, work.attempts, work.lease_id,
           passes.secret
    FROM work JOIN passes ON passes.tenant = work.tenant_id WHERE work.item_id = ANY (taken);
END
$$;

-- The heartbeat of a claim: its rows, whoever's they are, stay held for another lease. Rows that were advanced, erased or
-- taken by somebody else are left alone. SKIP LOCKED: what is being written now, by its holder, needs no lease meanwhile.
CREATE OR REPLACE FUNCTION longtail.hold_work(holder uuid, ids uuid[], lease interval)
RETURNS void
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = longtail, pg_temp
AS $$
    SELECT set_config('longtail.across', 'on', true);  -- every tenant's rows, see 80_row_security.sql
    WITH mine AS (
        SELECT work.item_id FROM work
        WHERE work.item_id = ANY (ids) AND work.lease_id = holder AND work.stage IN ('accepted', 'ingested', 'embedded')
        FOR UPDATE SKIP LOCKED
    )
    UPDATE work SET not_before = clock_timestamp() + lease FROM mine WHERE work.item_id = mine.item_id
$$;

-- How much waits at each stage and is free to be taken now: what the sweep rings bells for.
CREATE OR REPLACE FUNCTION longtail.ready_work()
RETURNS TABLE (stage text, ready bigint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = longtail, pg_temp
AS $$
    SELECT set_config('longtail.across', 'on', true);  -- every tenant's rows, see 80_row_security.sql
    SELECT work.stage, count(*) FROM work
    WHERE work.stage IN ('accepted', 'ingested', 'embedded') AND longtail.is_free(work.attempts, work.not_before)
    GROUP BY work.stage
$$;
