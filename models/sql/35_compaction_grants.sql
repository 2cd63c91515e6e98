-- Compaction's rights. Workers add summaries and coverage and may retire a summary; they take nothing away.
-- The API repairs: it may drop derived rows (never turns), under the admin scope alone.
REVOKE ALL ON FUNCTION longtail.claim_compactions(bigint, bigint, interval, integer, integer, interval), longtail.compacted_tenants(),
    longtail.prune_journals(integer), longtail.unindex_summaries(uuid[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION longtail.claim_compactions(bigint, bigint, interval, integer, integer, interval), longtail.compacted_tenants(),
    longtail.prune_journals(integer), longtail.unindex_summaries(uuid[]) TO longtail_worker;
GRANT INSERT ON longtail.summaries, longtail.summary_turns, longtail.summary_children, longtail.lineage_checks
    TO longtail_worker;
GRANT UPDATE (is_active) ON longtail.summaries TO longtail_worker;
GRANT INSERT, UPDATE ON longtail.compactions TO longtail_worker;

GRANT INSERT, UPDATE ON longtail.compactions TO longtail_api;
GRANT INSERT, DELETE ON longtail.journal TO longtail_api;
GRANT DELETE ON longtail.summaries TO longtail_api;
GRANT DELETE ON longtail.summary_turns, longtail.summary_children TO longtail_api;
