-- The one way in which a raw turn ever leaves: a namespace is erased on request, and the request is written down.

-- Everything of one namespace of the caller's tenant, raw turns included. Nobody holds DELETE on `turns`; the trigger
-- that refuses it lets through what `longtail.erasing` names, which is set here and ends with the transaction.
-- Sessions that keep turns of another namespace stay; their summaries go, because a summary may quote what is erased.
CREATE OR REPLACE FUNCTION longtail.erase_namespace(of_namespace text, by_token uuid, why text) RETURNS jsonb
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = longtail, pg_temp
AS $$
DECLARE
    of_tenant uuid := longtail.current_tenant();
    counts jsonb := '{}';
    turn_ids uuid[];
    touched text[];
    of_binding text := CASE WHEN of_namespace LIKE 'authored:%' THEN substr(of_namespace, 10)
                            WHEN of_namespace LIKE 'agent-id:%' THEN 'agent:' || substr(of_namespace, 10)
                            ELSE 'user:' || of_namespace END;
    part text;
    removed bigint;
BEGIN
    IF of_tenant IS NULL THEN
        RAISE EXCEPTION 'no tenant is set' USING ERRCODE = 'insufficient_privilege';
    ELSIF NOT (longtail.opens_all() OR of_namespace = ANY (longtail.opened())) THEN
        RAISE EXCEPTION 'the token does not open this namespace' USING ERRCODE = 'LT403';
    END IF;
    -- The gate of this namespace waits, and so does whoever would index its turns.
    PERFORM pg_advisory_xact_lock(hashtextextended(of_tenant || ':' || of_namespace, 0));
    PERFORM pg_advisory_xact_lock(hashtextextended('index:' || of_tenant || ':' || of_namespace, 0));
    turn_ids := ARRAY(SELECT id FROM turns WHERE tenant_id = of_tenant AND namespace = of_namespace);
    touched := ARRAY(
        SELECT DISTINCT session_id FROM turns WHERE tenant_id = of_tenant AND namespace = of_namespace
        UNION SELECT session_id FROM sessions WHERE tenant_id = of_tenant AND namespace = of_namespace);
    PERFORM set_config('longtail.erasing', of_tenant || ':' || of_namespace, true);
    FOREACH part IN ARRAY ARRAY[
        'feedback:WHERE tenant_id = $1 AND turn_id = ANY($3)',
        'memory_revisions:USING memories WHERE memories.id = memory_id AND memories.tenant_id = $1 AND memories.turn_id = ANY($3)',
        'memory_sources:WHERE tenant_id = $1 AND (turn_id = ANY($3) OR memory_id IN (SELECT id FROM memories WHERE turn_id = ANY($3)))',
        'memories:WHERE tenant_id = $1 AND turn_id = ANY($3)',
        'gate_decisions:WHERE tenant_id = $1 AND turn_id = ANY($3)',
        'guidance:WHERE tenant_id = $1 AND turn_id = ANY($3)',
        'summary_turns:USING summaries WHERE summaries.id = summary_id AND summaries.tenant_id = $1 AND summaries.session_id = ANY($4)',
        'summary_children:USING summaries WHERE summaries.id IN (parent_id, child_id) AND summaries.tenant_id = $1 AND summaries.session_id = ANY($4)',
        'items:WHERE tenant_id = $1 AND (namespace = $2 OR kind = ''summary'' AND session_id = ANY($4) OR id = ANY($3))',
        'summaries:WHERE tenant_id = $1 AND session_id = ANY($4)',
        'work:WHERE tenant_id = $1 AND (item_id = ANY($3) OR namespace = $2)',
        'dead_letters:WHERE tenant_id = $1 AND item_id = ANY($3)',
        'forgotten:WHERE tenant_id = $1 AND (namespace = $2 OR item_id = ANY($3))',
        'records:WHERE tenant_id = $1 AND (namespace = $2 OR item_id = ANY($3))',
        'turns:WHERE tenant_id = $1 AND namespace = $2',
        'compactions:WHERE tenant_id = $1 AND session_id = ANY($4) AND NOT EXISTS (SELECT FROM turns WHERE turns.tenant_id = $1 AND turns.session_id = compactions.session_id)',
        'sessions:WHERE tenant_id = $1 AND session_id = ANY($4) AND NOT EXISTS (SELECT FROM turns WHERE turns.tenant_id = $1 AND turns.session_id = sessions.session_id)',
        'journal:WHERE tenant_id = $1 AND namespace = $2',
        'assemblies:WHERE tenant_id = $1 AND namespace = $2',
        'documents:WHERE tenant_id = $1 AND binding = $5',
        'idempotency_keys:WHERE tenant_id = $1'
    ] LOOP
        IF part LIKE 'documents:%' THEN  -- what was indexed of the documents, before their nodes go with them
            DELETE FROM work USING document_nodes AS node JOIN documents ON documents.id = node.document_id
            WHERE documents.tenant_id = of_tenant AND documents.binding = of_binding AND work.item_id = node.id;
            DELETE FROM items WHERE tenant_id = of_tenant AND namespace = 'authored:' || of_binding;
        END IF;
        EXECUTE format('DELETE FROM longtail.%I %s', split_part(part, ':', 1), substr(part, strpos(part, ':') + 1))
        USING of_tenant, of_namespace, turn_ids, touched, of_binding;
        GET DIAGNOSTICS removed = ROW_COUNT;
        counts := counts || jsonb_build_object(split_part(part, ':', 1), removed);
    END LOOP;
    DELETE FROM postings USING namespaces WHERE postings.namespace_id = namespaces.id
        AND namespaces.tenant_id = of_tenant AND namespaces.namespace IN (of_namespace, 'authored:' || of_binding);
    DELETE FROM lexicon USING namespaces WHERE lexicon.namespace_id = namespaces.id
        AND namespaces.tenant_id = of_tenant AND namespaces.namespace IN (of_namespace, 'authored:' || of_binding);
    DELETE FROM namespaces WHERE tenant_id = of_tenant AND namespace IN (of_namespace, 'authored:' || of_binding);
    -- A new generation: a compaction that has read what is erased here may not commit what it wrote of it.
    UPDATE compactions SET generation = generation + 1, covered_through = -1, counted_at = clock_timestamp(), uncompacted_tokens = (
        SELECT coalesce(sum(coalesce(items.token_estimate, turns.tokens)), 0) FROM turns LEFT JOIN items ON items.id = turns.id
        WHERE turns.tenant_id = of_tenant AND turns.session_id = compactions.session_id)
    WHERE tenant_id = of_tenant AND session_id = ANY(touched);
    INSERT INTO erasures (tenant_id, namespace, token_id, reason, counts)
    VALUES (of_tenant, of_namespace, by_token, why, counts);
    PERFORM set_config('longtail.erasing', '', true);
    RETURN counts;
END
$$;
