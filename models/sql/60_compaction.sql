-- What compaction must know across tenants, each function one narrow thing (see 10_callers.sql).

-- Sessions whose compaction is due: asked for, grown past the threshold, or idle with turns nobody compacted.
-- Requests come first. `counted_at > ran_at`: what a run left behind is not due again until something is added.
-- Taking one claims it for a while: bells and ticks that follow, from however many beats, do not send it again.
DROP FUNCTION IF EXISTS longtail.due_compactions(bigint, bigint, interval, integer);
CREATE OR REPLACE FUNCTION longtail.claim_compactions(
    threshold_tokens bigint, tail_tokens bigint, idle interval, most integer, most_unasked integer, claim interval
) RETURNS TABLE (tenant_id uuid, session_id text, is_requested boolean)
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = longtail, pg_temp
AS $$
    SELECT set_config('longtail.across', 'on', true);  -- every tenant's rows, see 80_row_security.sql
    WITH due AS (
        SELECT state.tenant_id, state.session_id, state.requested_at, state.uncompacted_tokens,
               row_number() OVER (PARTITION BY state.requested_at IS NULL ORDER BY state.uncompacted_tokens DESC) AS place
        FROM compactions AS state JOIN sessions USING (tenant_id, session_id)
        WHERE state.not_before <= clock_timestamp() AND (
            state.requested_at IS NOT NULL
            OR state.uncompacted_tokens > tail_tokens
               AND state.counted_at > coalesce(state.ran_at, '-infinity')
               AND (state.uncompacted_tokens >= threshold_tokens + tail_tokens
                    OR sessions.last_turn_at < clock_timestamp() - idle))
    ), chosen AS (
        SELECT due.* FROM due WHERE due.requested_at IS NOT NULL OR due.place <= most_unasked
        ORDER BY due.requested_at NULLS LAST, due.uncompacted_tokens DESC LIMIT most
    ), claimed AS (
        UPDATE compactions AS state SET not_before = clock_timestamp() + claim FROM chosen
        WHERE state.tenant_id = chosen.tenant_id AND state.session_id = chosen.session_id
          AND state.not_before <= clock_timestamp()  -- read again: another scan may have been quicker
        RETURNING state.tenant_id, state.session_id, state.requested_at, state.uncompacted_tokens
    )
    SELECT claimed.tenant_id, claimed.session_id, claimed.requested_at IS NOT NULL FROM claimed
    ORDER BY claimed.requested_at NULLS LAST, claimed.uncompacted_tokens DESC
$$;

-- Tenants that have something to prove: the scheduled check visits each inside its own row security.
CREATE OR REPLACE FUNCTION longtail.compacted_tenants() RETURNS TABLE (tenant_id uuid, pass uuid)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = longtail, pg_temp
AS $$
    SELECT set_config('longtail.across', 'on', true);  -- every tenant's rows, see 80_row_security.sql
    SELECT passes.tenant, passes.secret FROM passes
    WHERE EXISTS (SELECT FROM summaries WHERE summaries.tenant_id = passes.tenant)
$$;

-- The tenant's pass, for whoever got the message to compact one of its sessions that has something to compact.
CREATE OR REPLACE FUNCTION longtail.compaction_pass(of_tenant uuid, in_session text) RETURNS uuid
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = longtail, pg_temp
AS $$
    SELECT set_config('longtail.across', 'on', true);  -- every tenant's rows, see 80_row_security.sql
    SELECT passes.secret FROM passes JOIN compactions ON compactions.tenant_id = passes.tenant
    WHERE passes.tenant = of_tenant AND compactions.session_id = in_session
      AND (compactions.requested_at IS NOT NULL OR compactions.uncompacted_tokens > 0)
$$;

-- Keeps the newest entries of every tenant's journal, and of its record of lineage checks.
CREATE OR REPLACE FUNCTION longtail.prune_journals(kept integer) RETURNS bigint
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = longtail, pg_temp
AS $$
    SELECT set_config('longtail.across', 'on', true);  -- every tenant's rows, see 80_row_security.sql
    WITH old_entries AS (
        DELETE FROM journal USING (
            SELECT id, row_number() OVER (PARTITION BY tenant_id ORDER BY recorded_at DESC, id DESC) AS place
            FROM journal
        ) AS ranked
        WHERE journal.id = ranked.id AND ranked.place > kept RETURNING 1
    ), old_checks AS (
        DELETE FROM lineage_checks USING (
            SELECT id, row_number() OVER (PARTITION BY tenant_id ORDER BY checked_at DESC, id DESC) AS place
            FROM lineage_checks
        ) AS ranked
        WHERE lineage_checks.id = ranked.id AND ranked.place > kept RETURNING 1
    )
    SELECT (SELECT count(*) FROM old_entries) + (SELECT count(*) FROM old_checks)
$$;

-- Takes retired summaries of the caller's tenant out of the search index, words and vectors with them: they would
-- only crowd the active ones out of a search. Nothing else can be taken out through it.
CREATE OR REPLACE FUNCTION longtail.unindex_summaries(ids uuid[]) RETURNS bigint
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = longtail, pg_temp
AS $$
    WITH gone AS (
        DELETE FROM items USING summaries
        WHERE items.id = ANY(ids) AND items.tenant_id = longtail.current_tenant() AND items.kind = 'summary'
          AND summaries.id = items.id AND NOT summaries.is_active RETURNING 1
    )
    SELECT count(*) FROM gone
$$;
