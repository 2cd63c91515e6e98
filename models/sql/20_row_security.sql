-- One policy for every table with a tenant: a role sees the rows of the tenant its transaction set, or none.
-- The sub-select is evaluated once a query, not once a row.
DO $$
DECLARE
    name text;
BEGIN
    FOR name IN
        SELECT tables.relname FROM pg_class AS tables
        JOIN pg_attribute AS columns ON columns.attrelid = tables.oid
        WHERE tables.relnamespace = 'longtail'::regnamespace AND tables.relkind = 'r'
          AND columns.attname = 'tenant_id' AND NOT columns.attisdropped
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
ALTER TABLE longtail.tenants ENABLE ROW LEVEL SECURITY;
DROP POLICY IF EXISTS one_tenant ON longtail.tenants;
CREATE POLICY one_tenant ON longtail.tenants
    USING (id = (SELECT longtail.current_tenant())) WITH CHECK (id = (SELECT longtail.current_tenant()));
