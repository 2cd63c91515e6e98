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

-- The words of a query that are worth looking for: stemmed, the rarest first, as many as are expected to match
-- at most `most_rows` rows together (the rarest always). Ranking every row that holds a common word costs more
-- than it tells. Frequencies are the planner's statistics; the caller learns none of them.
CREATE OR REPLACE FUNCTION longtail.query_words(query text, most_rows integer) RETURNS tsquery
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = longtail, pg_catalog, pg_temp
AS $$
    WITH known AS MATERIALIZED (
        SELECT unnest(most_common_elems::text::text[]) AS lexeme, unnest(most_common_elem_freqs) AS share
        FROM pg_stats WHERE schemaname = 'longtail' AND tablename = 'items' AND attname = 'lexemes'
    ), expected AS (
        SELECT asked.lexeme, row_number() OVER rarest AS place,
               sum(coalesce(known.share, 0)) OVER rarest * (
                   SELECT reltuples FROM pg_class WHERE oid = 'longtail.items'::regclass) AS matching
        FROM unnest(to_tsvector('english', query)) AS asked LEFT JOIN known ON known.lexeme = asked.lexeme
        WINDOW rarest AS (ORDER BY coalesce(known.share, 0), asked.lexeme)
    )
    SELECT string_agg(quote_literal(lexeme), ' | ')::tsquery FROM expected WHERE place = 1 OR matching <= most_rows
$$;

-- The lexical leg of recall, for the caller's own tenant. A definer function, because row security keeps @@ and
-- && from the index (they are not leakproof) and would read every row of a namespace instead.
CREATE OR REPLACE FUNCTION longtail.find_by_words(
    query text, names text[], in_namespaces text[], most integer, most_ranked integer
) RETURNS TABLE (item_id uuid, weight real)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = longtail, pg_catalog, pg_temp SET enable_seqscan = off
AS $$
DECLARE
    words tsquery := longtail.query_words(query, most_ranked);
    caller uuid := longtail.current_tenant();
BEGIN
    RETURN QUERY
    SELECT items.id,
           (coalesce(ts_rank(items.lexemes, words, 1), 0)
            + CASE WHEN items.identifiers && names THEN 1 ELSE 0 END)::real
    FROM longtail.items
    WHERE items.tenant_id = caller AND items.namespace = ANY(in_namespaces) AND items.is_active
      AND (items.lexemes @@ words OR items.identifiers && names)
    ORDER BY 2 DESC, items.id LIMIT most;
END
$$;
