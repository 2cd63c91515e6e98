-- The one way in which a raw turn ever leaves: something is erased on request, and the request is written down.

-- What was erased is known again by a hash of it with the tenant's salt, which no service role reads.
CREATE OR REPLACE FUNCTION longtail.tombstone(of_tenant uuid, kind text, name text) RETURNS bytea
LANGUAGE sql STABLE SET search_path = longtail, pg_temp
AS $$
    SELECT sha256(convert_to(salt || ':' || kind || ':' || name, 'UTF8')) FROM tombstone_salts WHERE tenant_id = of_tenant
$$;

-- Of each name, whether such a thing was erased in the caller's tenant. A tenant that never erased anything pays one look.
CREATE OR REPLACE FUNCTION longtail.is_buried(of_kind text, of_names text[]) RETURNS boolean[]
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = longtail, pg_temp
AS $$
DECLARE
    of_tenant uuid := longtail.current_tenant();
BEGIN
    IF NOT EXISTS (SELECT FROM tombstone_salts WHERE tenant_id = of_tenant) THEN
        RETURN array_fill(false, ARRAY[cardinality(of_names)]);
    END IF;
    RETURN ARRAY(
        SELECT EXISTS (SELECT FROM tombstones WHERE tenant_id = of_tenant AND mark = longtail.tombstone(of_tenant, of_kind, given.name))
        FROM unnest(of_names) WITH ORDINALITY AS given (name, ordinal) ORDER BY ordinal);
END
$$;

-- A namespace, a session, a memory with every turn that said it, or a document ("binding" newline "name") of the caller's
-- tenant: raw turns included, and everything made from them. Nobody holds DELETE on `turns`; the trigger that refuses it
-- lets through what `longtail.erasing` names, which is set here and ends with the transaction.
-- Sessions that keep other turns stay; their summaries go, because one may quote what is erased, and are made anew.
-- It is one transaction; a notice after each step ("12 of 40", in its detail) says how far it is.
DROP FUNCTION IF EXISTS longtail.erase(text, text, uuid, text);
DROP FUNCTION IF EXISTS longtail.erase_namespace(text, uuid, text);
CREATE OR REPLACE FUNCTION longtail.erase(of_kind text, of_name text, by_token uuid, why text, as_id uuid) RETURNS jsonb
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = longtail, pg_temp
AS $$
DECLARE
    of_tenant uuid := longtail.current_tenant();
    counts jsonb := '{}';
    turn_ids uuid[] := '{}';
    node_ids uuid[] := '{}';
    touched text[] := '{}';
    places text[] := '{}';  -- whose it is
    strangers text[];  -- tokens that open none of these
    whole text := CASE of_kind WHEN 'namespace' THEN of_name END;
    one_session text := CASE of_kind WHEN 'session' THEN of_name END;
    of_binding text;
    of_document text;
    place text;
    part text;
    parts text[];
    removed bigint;
    of_portion bigint;
    portion constant integer := 250;  -- raw turns and what is indexed of them go in portions, so that a step stays short
    first integer;
    step integer := 0;
    steps integer;
BEGIN
    IF of_tenant IS NULL THEN
        RAISE EXCEPTION 'no tenant is set' USING ERRCODE = 'insufficient_privilege';
    END IF;
    IF of_kind = 'namespace' THEN
        places := ARRAY[of_name];
        of_binding := CASE WHEN of_name LIKE 'authored:%' THEN substr(of_name, 10)
                           WHEN of_name LIKE 'agent-id:%' THEN 'agent:' || substr(of_name, 10)
                           ELSE 'user:' || of_name END;
    ELSIF of_kind = 'session' THEN
        places := ARRAY(SELECT namespace FROM sessions WHERE tenant_id = of_tenant AND session_id = of_name
                        UNION SELECT namespace FROM turns WHERE tenant_id = of_tenant AND session_id = of_name);
    ELSIF of_kind = 'memory' THEN
        places := ARRAY(SELECT namespace FROM memories WHERE tenant_id = of_tenant AND id = of_name::uuid);
    ELSIF of_kind = 'document' THEN
        of_binding := split_part(of_name, E'\n', 1);
        of_document := substr(of_name, strpos(of_name, E'\n') + 1);
        places := ARRAY(SELECT 'authored:' || binding FROM documents
                        WHERE tenant_id = of_tenant AND binding = of_binding AND name = of_document);
    ELSE
        RAISE EXCEPTION 'nothing of kind ''%'' is erased', of_kind USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF places = '{}' THEN
        RETURN NULL;  -- there is no such thing
    ELSIF NOT (longtail.opens_all() OR places <@ longtail.opened()) THEN
        RAISE EXCEPTION 'the token does not open this %', of_kind USING ERRCODE = 'LT403';
    END IF;
    -- Kept answers of calls may hold what is erased, unless their token is bound to other places and no session of it was shared.
    -- Of a token that is bound, the longest list of names is short: `opened` of 10_callers.sql, for each of them.
    strangers := ARRAY(
        SELECT tokens.id::text FROM tokens WHERE tenant_id = of_tenant AND num_nonnulls(namespaces, agents) > 0 AND NOT EXISTS (
            SELECT FROM unnest(coalesce(namespaces, '{}') || ARRAY(SELECT 'agent-id:' || agent FROM unnest(agents) AS agent)) AS opened
            WHERE ARRAY[opened, CASE WHEN opened LIKE 'agent-id:%' THEN 'authored:agent:' || substr(opened, 10)
                                     ELSE 'authored:user:' || opened END] && places));
    -- The gate of these namespaces waits, and so does whoever would index their turns.
    FOR place IN SELECT unnest(places) ORDER BY 1 LOOP
        PERFORM pg_advisory_xact_lock(hashtextextended(of_tenant || ':' || place, 0));
        PERFORM pg_advisory_xact_lock(hashtextextended('index:' || of_tenant || ':' || place, 0));
    END LOOP;
    turn_ids := CASE of_kind
        WHEN 'namespace' THEN ARRAY(SELECT id FROM turns WHERE tenant_id = of_tenant AND namespace = of_name)
        WHEN 'session' THEN ARRAY(SELECT id FROM turns WHERE tenant_id = of_tenant AND session_id = of_name)
        WHEN 'memory' THEN ARRAY(
            SELECT turn_id FROM memories WHERE tenant_id = of_tenant AND id = of_name::uuid
            UNION SELECT turn_id FROM memory_sources WHERE tenant_id = of_tenant AND memory_id = of_name::uuid)
        ELSE '{}' END;
    touched := ARRAY(
        SELECT DISTINCT session_id FROM turns WHERE tenant_id = of_tenant AND id = ANY(turn_ids)
        UNION SELECT session_id FROM sessions WHERE tenant_id = of_tenant AND (namespace = whole OR session_id = one_session));
    IF EXISTS (SELECT FROM sessions WHERE tenant_id = of_tenant AND session_id = ANY(touched) AND is_shared) THEN
        strangers := '{}';
    END IF;
    node_ids := ARRAY(SELECT node.id FROM document_nodes AS node JOIN documents ON documents.id = node.document_id
        WHERE documents.tenant_id = of_tenant AND documents.binding = of_binding AND (of_document IS NULL OR documents.name = of_document));
    -- Marks first, while there is something to make them of: of a turn one that tokens of the tenant meet, and one that those of its
    -- namespace do (`accept_turns`). Short texts ("yes") get none: they would silence new ones.
    INSERT INTO tombstone_salts (tenant_id, salt) VALUES (of_tenant, gen_random_uuid() || ':' || gen_random_uuid())
    ON CONFLICT (tenant_id) DO NOTHING;
    INSERT INTO tombstones (tenant_id, mark)
    SELECT of_tenant, longtail.tombstone(of_tenant, 'turn', whose || session_id || E'\n' || encode(content_sha256, 'hex'))
    FROM turns CROSS JOIN unnest(ARRAY['', namespace || E'\n']) AS whose
    WHERE tenant_id = of_tenant AND id = ANY(turn_ids) AND char_length(content) >= 20
    UNION SELECT of_tenant, longtail.tombstone(of_tenant, 'key', whose || session_id || E'\n' || dedup_key)
    FROM turns CROSS JOIN unnest(ARRAY['', namespace || E'\n']) AS whose
    WHERE tenant_id = of_tenant AND id = ANY(turn_ids) AND dedup_key NOT LIKE 'position:%'
    UNION SELECT of_tenant, longtail.tombstone(of_tenant, 'document', binding || E'\n' || name || E'\n' || encode(body_sha256, 'hex'))
    FROM documents WHERE tenant_id = of_tenant AND binding = of_binding AND (of_document IS NULL OR name = of_document)
    ON CONFLICT DO NOTHING;
    PERFORM set_config('longtail.erasing', of_tenant || ':*', true);
    -- The words of a whole namespace go at once, and before its items: counting each item's words down would read every
    -- item that shares one, which is the square of what is erased.
    IF whole IS NOT NULL THEN
        DELETE FROM postings USING namespaces WHERE postings.namespace_id = namespaces.id
            AND namespaces.tenant_id = of_tenant AND namespaces.namespace IN (whole, 'authored:' || of_binding);
        DELETE FROM lexicon USING namespaces WHERE lexicon.namespace_id = namespaces.id
            AND namespaces.tenant_id = of_tenant AND namespaces.namespace IN (whole, 'authored:' || of_binding);
        DELETE FROM namespaces WHERE tenant_id = of_tenant AND namespace IN (whole, 'authored:' || of_binding);
    END IF;
    parts := ARRAY[
        'feedback:WHERE tenant_id = $1 AND turn_id = ANY($3)',
        'memory_revisions:USING memories WHERE memories.id = memory_id AND memories.tenant_id = $1 AND memories.turn_id = ANY($3)',
        'memory_sources:WHERE tenant_id = $1 AND (turn_id = ANY($3) OR memory_id IN (SELECT id FROM memories WHERE turn_id = ANY($3)))',
        'memories:WHERE tenant_id = $1 AND turn_id = ANY($3)',
        'gate_decisions:WHERE tenant_id = $1 AND turn_id = ANY($3)',
        'guidance:WHERE tenant_id = $1 AND turn_id = ANY($3)',
        'summary_turns:USING summaries WHERE summaries.id = summary_id AND summaries.tenant_id = $1 AND summaries.session_id = ANY($4)',
        'summary_children:USING summaries WHERE summaries.id IN (parent_id, child_id) AND summaries.tenant_id = $1 AND summaries.session_id = ANY($4)',
        'items:WHERE tenant_id = $1 AND (namespace = $2 OR kind = ''summary'' AND session_id = ANY($4) OR id = ANY($3) OR id = ANY($6))',
        'summaries:WHERE tenant_id = $1 AND session_id = ANY($4)',
        'work:WHERE tenant_id = $1 AND (item_id = ANY($3) OR item_id = ANY($6) OR namespace = $2)',
        'dead_letters:WHERE tenant_id = $1 AND (item_id = ANY($3) OR item_id = ANY($6))',
        'forgotten:WHERE tenant_id = $1 AND (namespace = $2 OR item_id = ANY($3))',
        'records:WHERE tenant_id = $1 AND (namespace = $2 OR item_id = ANY($3) OR collection IN (''session:'' || $7, ''elevated:session:'' || $7))',
        'turns:WHERE tenant_id = $1 AND id = ANY($3)',
        'compactions:WHERE tenant_id = $1 AND session_id = ANY($4) AND NOT EXISTS (SELECT FROM turns WHERE turns.tenant_id = $1 AND turns.session_id = compactions.session_id)',
        'sessions:WHERE tenant_id = $1 AND session_id = ANY($4) AND NOT EXISTS (SELECT FROM turns WHERE turns.tenant_id = $1 AND turns.session_id = sessions.session_id)',
        'journal:WHERE tenant_id = $1 AND (namespace = $2 OR session_id = $7)',
        'assemblies:WHERE tenant_id = $1 AND (namespace = ANY($8) OR session_id = ANY($4))',
        'documents:WHERE tenant_id = $1 AND binding = $5 AND ($9 IS NULL OR name = $9)',
        'idempotency_keys:WHERE tenant_id = $1 AND split_part(key, '':'', 1) <> ALL($10)'
    ];
    steps := cardinality(parts) + 2 * (cardinality(turn_ids) / portion);
    FOREACH part IN ARRAY parts LOOP
        removed := 0;
        IF part LIKE ANY (ARRAY['items:%', 'turns:%']) THEN
            FOR first IN SELECT generate_series(1, cardinality(turn_ids) / portion * portion, portion) LOOP
                EXECUTE format('DELETE FROM longtail.%I WHERE tenant_id = $1 AND id = ANY($2)', split_part(part, ':', 1))
                USING of_tenant, turn_ids[first : first + portion - 1];
                GET DIAGNOSTICS of_portion = ROW_COUNT;
                removed := removed + of_portion;
                step := step + 1;
                RAISE NOTICE 'longtail.erase' USING DETAIL = step || ' of ' || steps;
            END LOOP;
        END IF;
        EXECUTE format('DELETE FROM longtail.%I %s', split_part(part, ':', 1), substr(part, strpos(part, ':') + 1))
        USING of_tenant, whole, turn_ids, touched, of_binding, node_ids, one_session, places, of_document, strangers;
        GET DIAGNOSTICS of_portion = ROW_COUNT;
        removed := removed + of_portion;
        step := step + 1;
        RAISE NOTICE 'longtail.erase' USING DETAIL = step || ' of ' || steps;
        counts := counts || jsonb_build_object(split_part(part, ':', 1), removed);
        IF part LIKE 'sessions:%' THEN
            INSERT INTO tombstones (tenant_id, mark)
            SELECT of_tenant, longtail.tombstone(of_tenant, 'session', gone) FROM unnest(touched) AS gone
            WHERE NOT EXISTS (SELECT FROM sessions WHERE tenant_id = of_tenant AND session_id = gone)
            ON CONFLICT DO NOTHING;
        END IF;
    END LOOP;
    IF whole IS NOT NULL THEN
        DELETE FROM items WHERE tenant_id = of_tenant AND namespace = 'authored:' || of_binding;
        -- A session that others go on in is not this one's any more.
        UPDATE sessions SET user_id = NULL, session_key = NULL, agent_id = NULL, namespace = (
            SELECT turns.namespace FROM turns WHERE turns.tenant_id = of_tenant AND turns.session_id = sessions.session_id
            ORDER BY position LIMIT 1)
        WHERE tenant_id = of_tenant AND session_id = ANY(touched) AND namespace = whole;
    END IF;
    DELETE FROM lexicon WHERE tenant_id = of_tenant AND item_count <= 0;  -- words that nothing says any more
    -- A new generation: a compaction that has read what is erased here may not commit what it wrote of it.
    UPDATE compactions SET generation = generation + 1, covered_through = -1, counted_at = clock_timestamp(), uncompacted_tokens = (
        SELECT coalesce(sum(coalesce(items.token_estimate, turns.tokens)), 0) FROM turns LEFT JOIN items ON items.id = turns.id
        WHERE turns.tenant_id = of_tenant AND turns.session_id = compactions.session_id)
    WHERE tenant_id = of_tenant AND session_id = ANY(touched);
    INSERT INTO erasures (id, tenant_id, namespace, token_id, reason, counts, kind, target)
    VALUES (as_id, of_tenant, places[1], by_token, why, counts, of_kind, CASE WHEN whole IS NULL THEN replace(of_name, E'\n', ' ') END);
    PERFORM set_config('longtail.erasing', '', true);
    RETURN counts;
END
$$;
