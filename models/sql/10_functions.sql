-- Functions that service roles call. SECURITY DEFINER ones run as the owner, whom row security does not bind:
-- each does one narrow thing and pins its search_path.

CREATE OR REPLACE FUNCTION longtail.current_tenant() RETURNS uuid
LANGUAGE sql STABLE PARALLEL SAFE
RETURN nullif(current_setting('longtail.tenant_id', true), '')::uuid;

-- Whose token is this? Callers learn the tenant of a token they already hold, and nothing else.
CREATE OR REPLACE FUNCTION longtail.authenticate(presented_sha256 bytea)
RETURNS TABLE (token_id uuid, tenant_id uuid, scopes text[], namespace text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = longtail, pg_temp
AS $$
    SELECT id, tokens.tenant_id, tokens.scopes, tokens.namespace
    FROM tokens WHERE token_sha256 = presented_sha256 AND revoked_at IS NULL
$$;

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

-- The second lock on raw turns, behind the missing grant: even the owner's own mistakes are refused.
CREATE OR REPLACE FUNCTION longtail.refuse_change() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'raw turns are append-only: % on longtail.turns is refused', TG_OP
        USING ERRCODE = 'restrict_violation';
END
$$;

CREATE OR REPLACE TRIGGER turns_are_append_only
BEFORE UPDATE OR DELETE ON longtail.turns FOR EACH ROW EXECUTE FUNCTION longtail.refuse_change();
CREATE OR REPLACE TRIGGER turns_are_never_truncated
BEFORE TRUNCATE ON longtail.turns FOR EACH STATEMENT EXECUTE FUNCTION longtail.refuse_change();
