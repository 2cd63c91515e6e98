-- One policy for every table with a tenant: a role sees the rows of the tenant its transaction set, or none.
-- The sub-select is evaluated once a query, not once a row. A table that has its policy is left alone: changing it again
-- would lock it against everybody who is at work.
DO $$
DECLARE
    name text;
BEGIN
    FOR name IN
        SELECT tables.relname FROM pg_class AS tables
        JOIN pg_attribute AS columns ON columns.attrelid = tables.oid
        WHERE tables.relnamespace = 'longtail'::regnamespace AND tables.relkind = 'r'
          AND columns.attname = 'tenant_id' AND NOT columns.attisdropped
          AND NOT (tables.relrowsecurity AND EXISTS (
              SELECT FROM pg_policy WHERE polrelid = tables.oid AND polname = 'one_tenant'))
        ORDER BY tables.relname
    LOOP
        EXECUTE format('ALTER TABLE longtail.%I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('DROP POLICY IF EXISTS one_tenant ON longtail.%I', name);
        EXECUTE format(
            'CREATE POLICY one_tenant ON longtail.%I '
            'USING (tenant_id = (SELECT longtail.current_tenant())) '
            'WITH CHECK (tenant_id = (SELECT longtail.current_tenant()))', name);
    END LOOP;
END
$$;
DO $$
BEGIN
    IF NOT (SELECT relrowsecurity FROM pg_class WHERE oid = 'longtail.tenants'::regclass) THEN
        ALTER TABLE longtail.tenants ENABLE ROW LEVEL SECURITY;
        CREATE POLICY one_tenant ON longtail.tenants
            USING (id = (SELECT longtail.current_tenant())) WITH CHECK (id = (SELECT longtail.current_tenant()));
    END IF;
END
$$;
