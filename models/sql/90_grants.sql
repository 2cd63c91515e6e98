-- What each service role may do; everything else is refused. `turns` has no UPDATE or DELETE for anybody.
REVOKE ALL ON ALL TABLES IN SCHEMA longtail FROM longtail_api, longtail_worker, longtail_report;
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA longtail FROM PUBLIC, longtail_api, longtail_worker, longtail_report;
GRANT USAGE ON SCHEMA longtail TO longtail_api, longtail_worker;
GRANT EXECUTE ON FUNCTION longtail.current_seal() TO longtail_api, longtail_worker, longtail_report;
GRANT EXECUTE ON FUNCTION longtail.current_tenant() TO longtail_api, longtail_worker;
GRANT EXECUTE ON FUNCTION longtail.stem(text), longtail.count_useful(uuid) TO longtail_api, longtail_worker;
GRANT SELECT ON ALL TABLES IN SCHEMA longtail TO longtail_api, longtail_worker;
REVOKE SELECT ON longtail.tokens, longtail.tombstones, longtail.tombstone_salts FROM longtail_api, longtail_worker;
REVOKE SELECT ON longtail.passes FROM longtail_api, longtail_worker;
GRANT SELECT (tenant, seal) ON longtail.passes TO longtail_api, longtail_worker; -- what the policies compare
REVOKE SELECT ON longtail.assemblies FROM longtail_worker;

-- The API answers now: it accepts, reads, corrects, forgets, imports and repairs. It may drop derived rows; the one function
-- that removes raw turns is for requests to erase a namespace.
GRANT EXECUTE ON FUNCTION longtail.authenticate(bytea), longtail.find_by_words(text[], text[], integer, integer),
    longtail.accept_turns(uuid, text, text, text, boolean, text, text, text, text, text[], text[], text[], text[], text[], bytea[],
    timestamptz[], text[], integer[]),
    longtail.opens_all(), longtail.opened_namespaces(), longtail.opened(), longtail.readable(),
    longtail.find_home(text, text, text, text, text), longtail.find_places(text, text, text, text, text),
    longtail.read_context(uuid, text, text, text, text, text, bigint, integer, regclass),
    longtail.erase(text, text, uuid, text, uuid), longtail.is_buried(text, text[]),
    longtail.measure_service(), longtail.check_administration(),
    longtail.issue_token(bytea, text[], text[], text[], text, timestamptz), longtail.list_tokens(), longtail.revoke_token(uuid),
    longtail.living_tokens(bytea[])
    TO longtail_api;
GRANT INSERT ON longtail.turns, longtail.work, longtail.sessions, longtail.documents, longtail.document_nodes,
    longtail.memories, longtail.memory_revisions, longtail.memory_sources, longtail.forgotten, longtail.gate_decisions,
    longtail.guidance, longtail.feedback, longtail.summaries, longtail.summary_turns, longtail.summary_children,
    longtail.compactions, longtail.journal, longtail.assemblies, longtail.idempotency_keys, longtail.records TO longtail_api;
GRANT UPDATE ON longtail.sessions, longtail.documents, longtail.document_nodes, longtail.items, longtail.feedback,
    longtail.compactions, longtail.idempotency_keys, longtail.records TO longtail_api;
GRANT UPDATE (gate_threshold) ON longtail.tenants TO longtail_api;
GRANT UPDATE (body, corrected_at, forgotten_at) ON longtail.memories TO longtail_api;
GRANT UPDATE (forgotten_at, body, modalities, claims, expires_at, corrected_at) ON longtail.guidance TO longtail_api;
GRANT UPDATE (stage, attempts, last_error, not_before, updated_at) ON longtail.work TO longtail_api; -- a dead letter is tried again
GRANT DELETE ON longtail.work, longtail.documents, longtail.document_nodes, longtail.items, longtail.summaries,
    longtail.summary_turns, longtail.summary_children, longtail.journal, longtail.assemblies, longtail.idempotency_keys,
    longtail.records, longtail.dead_letters TO longtail_api;

-- Workers add what they learn and take nothing away but their own vectors and dead letters; they may retire a summary.
GRANT EXECUTE ON FUNCTION longtail.claim_work(text, integer, interval), longtail.hold_work(uuid, uuid[], interval),
    longtail.ready_work(), longtail.index_items(jsonb),
    longtail.claim_compactions(bigint, bigint, interval, integer, integer, interval), longtail.compacted_tenants(),
    longtail.compaction_pass(uuid, text),
    longtail.find_unfilled(text, uuid, integer), longtail.take_over(text),
    longtail.prune_journals(integer), longtail.prune_assemblies(integer, timestamptz), longtail.unindex_summaries(uuid[])
    TO longtail_worker;
GRANT INSERT ON longtail.items, longtail.namespaces, longtail.lexicon, longtail.postings, longtail.gate_decisions,
    longtail.memories, longtail.memory_sources, longtail.guidance, longtail.dead_letters, longtail.summaries,
    longtail.summary_turns, longtail.summary_children, longtail.compactions, longtail.lineage_checks,
    longtail.task_runs, longtail.statements, longtail.supersessions
    TO longtail_worker;
GRANT UPDATE ON longtail.work, longtail.items, longtail.namespaces, longtail.lexicon, longtail.gate_decisions,
    longtail.memories, longtail.memory_sources, longtail.guidance, longtail.dead_letters, longtail.compactions,
    longtail.task_runs TO longtail_worker;
GRANT UPDATE (filled_to, leased_until, problem) ON longtail.encoders TO longtail_worker; -- how far one is that is being filled
GRANT UPDATE (is_active) ON longtail.summaries TO longtail_worker;
GRANT DELETE ON longtail.dead_letters, longtail.statements TO longtail_worker;
DO $$
DECLARE
    name text;
BEGIN
    FOR name IN  -- every encoder's table, whenever it came
        SELECT relname FROM pg_class
        WHERE relnamespace = 'longtail'::regnamespace AND relkind = 'r' AND starts_with(relname, 'embeddings_')
        ORDER BY relname
    LOOP
        EXECUTE format('GRANT INSERT, UPDATE, DELETE ON longtail.%I TO longtail_worker', name);
    END LOOP;
END
$$;
