-- What the public surface may write beyond accepting turns: corrections, forgetting, imports, answers to repeated calls.
-- Nothing here changes or removes a raw turn; the one function that does is for requests to erase a namespace.
GRANT UPDATE (body, corrected_at, forgotten_at) ON longtail.memories TO longtail_api;
GRANT UPDATE (forgotten_at) ON longtail.guidance TO longtail_api;
GRANT INSERT ON longtail.memory_revisions, longtail.forgotten TO longtail_api;
GRANT INSERT ON longtail.memories, longtail.memory_sources, longtail.gate_decisions, longtail.guidance,
    longtail.summaries, longtail.summary_turns, longtail.summary_children TO longtail_api;
GRANT INSERT, UPDATE, DELETE ON longtail.idempotency_keys TO longtail_api;
REVOKE ALL ON FUNCTION longtail.erase_namespace(text, uuid, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION longtail.erase_namespace(text, uuid, text) TO longtail_api;
