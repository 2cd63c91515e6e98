-- One policy for every table with a tenant: a role sees the rows of the tenant whose pass its transaction set, or none. A tenant's
-- id alone opens nothing, and the hash of a pass does not tell the pass (decision 47).
-- The sub-select is evaluated once a query, not once a row, and is written out here because a function with a query inside
-- costs five times as much. A table that has its policy is left alone: changing it again would lock it against everybody
-- who is at work.
DO $$
DECLARE
    name text;
    rule text;
BEGIN
    FOR name, rule IN
        SELECT tables.relname, format('%I = (SELECT passes.tenant FROM longtail.passes WHERE passes.seal = longtail.current_seal())',
            columns.attname)
        FROM pg_class AS tables JOIN pg_attribute AS columns ON columns.attrelid = tables.oid
        WHERE tables.relnamespace = 'longtail'::regnamespace AND tables.relkind = 'r' AND NOT columns.attisdropped
          AND columns.attname = CASE tables.relname WHEN 'tenants' THEN 'id' ELSE 'tenant_id' END
        ORDER BY tables.relname
    LOOP
        CONTINUE WHEN EXISTS (
            SELECT FROM pg_policy JOIN pg_class ON pg_class.oid = polrelid
            WHERE polrelid = ('longtail.' || name)::regclass AND polname = 'one_tenant' AND relrowsecurity
              AND obj_description(pg_policy.oid, 'pg_policy') = md5(rule));
        EXECUTE format('ALTER TABLE longtail.%I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('DROP POLICY IF EXISTS one_tenant ON longtail.%I', name);
        EXECUTE format('CREATE POLICY one_tenant ON longtail.%I USING (%s) WITH CHECK (%s)', name, rule, rule);
        EXECUTE format('COMMENT ON POLICY one_tenant ON longtail.%I IS %L', name, md5(rule));
    END LOOP;
END
$$;

-- FORCE: the owner is bound too. Functions of the owner that a service role calls see the tenant of the transaction; the few
-- that look across tenants say so with `longtail.across`, which shows nothing to the service roles themselves. The owner's own
-- sessions, and the reporting views, see every tenant.
-- `postings` and `lexicon` are read through an index alone, by the ids of namespaces, which are forced.
DO $$
DECLARE
    name text;
BEGIN
    FOR name IN
        SELECT tables.relname FROM pg_class AS tables
        WHERE tables.relnamespace = 'longtail'::regnamespace AND tables.relkind = 'r' AND tables.relrowsecurity
          AND tables.relname NOT IN ('postings', 'lexicon')
          AND NOT (tables.relforcerowsecurity AND EXISTS (
              SELECT FROM pg_policy WHERE polrelid = tables.oid AND polname = 'every_tenant'))
        ORDER BY tables.relname
    LOOP
        EXECUTE format('DROP POLICY IF EXISTS every_tenant ON longtail.%I', name);
        EXECUTE format(
            'CREATE POLICY every_tenant ON longtail.%I TO CURRENT_USER USING '
            '((SELECT session_user NOT IN (''longtail_api'', ''longtail_worker'')'
            ' OR coalesce(current_setting(''longtail.across'', true) = ''on'', false)))', name);
        EXECUTE format('ALTER TABLE longtail.%I FORCE ROW LEVEL SECURITY', name);
    END LOOP;
END
$$;

-- Second lock, for the API's role: of the tenant's rows, those of the namespaces that the transaction opens. What all of a
-- tenant share (global memory, the tenant's documents) may be read by all, and written by a token of the whole tenant alone.
-- `{places}` stands for what is readable or writable; a row without a namespace of its own belongs where its parent does.
DROP TABLE IF EXISTS pg_temp.belongings;
CREATE TEMPORARY TABLE belongings (name text PRIMARY KEY, rule text);
INSERT INTO belongings (name, rule) VALUES
    ('items', 'namespace = ANY ({places})'),
    ('work', 'namespace = ANY ({places})'),
    ('namespaces', 'namespace = ANY ({places})'),
    ('gate_decisions', 'namespace = ANY ({places})'),
    ('memories', 'namespace = ANY ({places})'),
    ('forgotten', 'namespace = ANY ({places})'),
    ('assemblies', 'namespace = ANY ({places})'),
    ('journal', 'namespace = ANY ({places})'),
    ('erasures', 'namespace = ANY ({places})'),
    ('records', 'namespace = ANY ({places})'),
    ('statements', 'namespace = ANY ({places})'),
    ('supersessions', 'namespace = ANY ({places})'),
    ('sessions', 'namespace = ANY ({places}) OR is_shared'),
    ('turns', 'namespace = ANY ({places}) OR {is_reading} AND session_id IN (
        SELECT home.session_id FROM longtail.sessions AS home WHERE home.is_shared)'),
    ('summaries', 'namespace = ANY ({places}) OR session_id IN (
        SELECT home.session_id FROM longtail.sessions AS home WHERE home.is_shared)'),
    ('compactions', 'EXISTS (SELECT FROM longtail.sessions AS home
        WHERE home.tenant_id = compactions.tenant_id AND home.session_id = compactions.session_id)'),
    ('summary_turns', 'EXISTS (SELECT FROM longtail.summaries AS home WHERE home.id = summary_id)'),
    ('summary_children', 'EXISTS (SELECT FROM longtail.summaries AS home WHERE home.id = parent_id)'),
    ('memory_revisions', 'EXISTS (SELECT FROM longtail.memories AS home WHERE home.id = memory_id)'),
    ('memory_sources', 'EXISTS (SELECT FROM longtail.memories AS home WHERE home.id = memory_id)'),
    ('guidance', 'EXISTS (SELECT FROM longtail.turns AS home WHERE home.id = turn_id AND home.namespace = ANY ({places}))'),
    ('feedback', 'EXISTS (SELECT FROM longtail.turns AS home WHERE home.id = turn_id AND home.namespace = ANY ({places}))'),
    ('dead_letters', 'EXISTS (SELECT FROM longtail.work AS home WHERE home.item_id = dead_letters.item_id)'),
    ('documents', $$'authored:' || binding = ANY ({places})$$),
    ('document_nodes', $$EXISTS (SELECT FROM longtail.documents AS home
        WHERE home.id = document_id AND 'authored:' || home.binding = ANY ({places}))$$),
    ('lexicon', 'EXISTS (SELECT FROM longtail.namespaces AS home WHERE home.id = namespace_id)'),
    ('postings', 'EXISTS (SELECT FROM longtail.namespaces AS home WHERE home.id = namespace_id)'),
    ('idempotency_keys',
     $$starts_with(key, coalesce(nullif(current_setting('longtail.token_id', true), ''), 'nobody') || ':')$$),
    ('tombstones', 'false'),
    ('tombstone_salts', 'false'),
    ('lineage_checks', 'false');  -- the proof is about the whole tenant
INSERT INTO belongings (name, rule)  -- every encoder's table, whenever it came
SELECT relname, 'namespace = ANY ({places})' FROM pg_class
WHERE relnamespace = 'longtail'::regnamespace AND relkind = 'r' AND starts_with(relname, 'embeddings_');
DO $$
DECLARE
    table_name text;
    command text;
    rule text;
    policy text;
BEGIN
    FOR table_name, command, rule IN
        SELECT belongings.name, commands.command, '(SELECT longtail.opens_all()) OR ' || replace(replace(belongings.rule,
            '{places}', CASE commands.command WHEN 'SELECT' THEN '(SELECT longtail.readable())::text[]'
                                              ELSE '(SELECT longtail.opened())::text[]' END),
            '{is_reading}', (commands.command = 'SELECT')::text)
        FROM belongings CROSS JOIN unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']) AS commands (command)
        ORDER BY 1, 2
    LOOP
        policy := 'one_namespace_' || lower(command);
        CONTINUE WHEN EXISTS (
            SELECT FROM pg_policy WHERE polrelid = ('longtail.' || table_name)::regclass AND polname = policy
              AND obj_description(oid, 'pg_policy') = md5(rule));
        EXECUTE format('DROP POLICY IF EXISTS %I ON longtail.%I', policy, table_name);
        EXECUTE format('CREATE POLICY %I ON longtail.%I AS RESTRICTIVE FOR %s TO longtail_api %s',
            policy, table_name, command, CASE command
                WHEN 'INSERT' THEN format('WITH CHECK (%s)', rule)
                WHEN 'UPDATE' THEN format('USING (%s) WITH CHECK (%s)', rule, rule)
                ELSE format('USING (%s)', rule) END);
        EXECUTE format('COMMENT ON POLICY %I ON longtail.%I IS %L', policy, table_name, md5(rule));
    END LOOP;
END
$$;
DROP TABLE belongings;
