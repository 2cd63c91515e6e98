-- Keeps the newest receipts of every tenant, and none from before `oldest`.
CREATE OR REPLACE FUNCTION longtail.prune_assemblies(kept integer, oldest timestamptz) RETURNS bigint
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = longtail, pg_temp
AS $$
    SELECT set_config('longtail.across', 'on', true);  -- every tenant's rows, see 80_row_security.sql
    WITH gone AS (
        DELETE FROM assemblies USING (
            SELECT id, row_number() OVER (PARTITION BY tenant_id ORDER BY made_at DESC, id DESC) AS place
            FROM assemblies
        ) AS ranked
        WHERE assemblies.id = ranked.id AND (ranked.place > kept OR assemblies.made_at < oldest) RETURNING 1
    )
    SELECT count(*) FROM gone
$$;
