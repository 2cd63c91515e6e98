-- What each service role may do; everything else is refused. `turns` has no UPDATE or DELETE for anybody.
REVOKE ALL ON ALL TABLES IN SCHEMA longtail FROM longtail_api, longtail_worker, longtail_report;
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA longtail FROM PUBLIC, longtail_api, longtail_worker, longtail_report;
GRANT USAGE ON SCHEMA longtail TO longtail_api, longtail_worker;
GRANT EXECUTE ON FUNCTION longtail.current_tenant() TO longtail_api, longtail_worker, longtail_report;

GRANT EXECUTE ON FUNCTION longtail.authenticate(bytea), longtail.find_by_words(text[], text[], integer, integer),
    longtail.stem(text), longtail.accept_turns(uuid, text, text, boolean, text, text, text, text[], text[], text[],
    text[], text[], bytea[], timestamptz[], text[]),
    longtail.find_places(uuid, text, text, text, text),
    longtail.read_context(uuid, text, text, text, text, bigint, integer, regclass)
    TO longtail_api;
GRANT SELECT ON ALL TABLES IN SCHEMA longtail TO longtail_api;
REVOKE SELECT ON longtail.tokens FROM longtail_api;
GRANT INSERT ON longtail.turns, longtail.work TO longtail_api;
GRANT INSERT, UPDATE ON longtail.sessions TO longtail_api;
GRANT INSERT, UPDATE, DELETE ON longtail.documents, longtail.document_nodes TO longtail_api;
GRANT UPDATE, DELETE ON longtail.items TO longtail_api;
GRANT DELETE ON longtail.work TO longtail_api;
GRANT INSERT, UPDATE ON longtail.feedback TO longtail_api;
GRANT UPDATE (gate_threshold) ON longtail.tenants TO longtail_api;

GRANT EXECUTE ON FUNCTION longtail.claim_work(text, integer, interval), longtail.ready_work(),
    longtail.stem(text), longtail.index_items(jsonb) TO longtail_worker;
GRANT SELECT ON ALL TABLES IN SCHEMA longtail TO longtail_worker;
REVOKE SELECT ON longtail.tokens FROM longtail_worker;
GRANT UPDATE ON longtail.work TO longtail_worker;
GRANT INSERT, UPDATE ON longtail.items, longtail.namespaces, longtail.lexicon, longtail.gate_decisions, longtail.memories, longtail.memory_sources,
    longtail.guidance, longtail.dead_letters, longtail.embeddings_minilm, longtail.embeddings_toy TO longtail_worker;
GRANT INSERT ON longtail.postings TO longtail_worker;
GRANT DELETE ON longtail.embeddings_minilm, longtail.embeddings_toy, longtail.dead_letters TO longtail_worker;

