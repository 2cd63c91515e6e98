-- What the service as a whole is doing, in numbers without tenants, for /metrics. One pass over what waits; the rest is a
-- row per tenant or an estimate of the planner.
CREATE OR REPLACE FUNCTION longtail.measure_service()
RETURNS TABLE (name text, label text, value float8)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = longtail, pg_temp
AS $$
    SELECT set_config('longtail.across', 'on', true);  -- every tenant's rows, see 80_row_security.sql
    WITH waiting AS (
        SELECT stage, count(*) AS items, min(accepted_at) AS oldest FROM work
        WHERE stage IN ('accepted', 'ingested', 'embedded') GROUP BY stage
    ), proofs AS (
        SELECT DISTINCT ON (tenant_id) violations, checked_at FROM lineage_checks ORDER BY tenant_id, checked_at DESC
    )
    SELECT 'pending', stages.stage, coalesce(waiting.items, 0)::float8
    FROM unnest(ARRAY['accepted', 'ingested', 'embedded']) AS stages (stage) LEFT JOIN waiting USING (stage)
    UNION ALL
    SELECT 'lag_seconds', '', coalesce(extract(epoch FROM clock_timestamp() - min(oldest)), 0)::float8 FROM waiting
    UNION ALL
    SELECT 'stage_lag_seconds', stages.stage, coalesce(extract(epoch FROM clock_timestamp() - waiting.oldest), 0)::float8
    FROM unnest(ARRAY['accepted', 'ingested', 'embedded']) AS stages (stage) LEFT JOIN waiting USING (stage)
    UNION ALL SELECT 'dead_letters', '', count(*)::float8 FROM dead_letters
    UNION ALL SELECT 'lineage_violations', '', coalesce(sum(violations), 0)::float8 FROM proofs
    UNION ALL
    SELECT 'lineage_check_age_seconds', '', extract(epoch FROM clock_timestamp() - min(checked_at))::float8
    FROM proofs HAVING count(*) > 0
    UNION ALL
    SELECT 'rows_estimated', relname::text, greatest(reltuples, 0)::float8 FROM pg_class
    WHERE relnamespace = 'longtail'::regnamespace AND relname IN ('turns', 'items', 'memories', 'summaries', 'guidance')
$$;
