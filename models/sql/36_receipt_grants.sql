-- Receipts are written and read by the API, which keeps its tenant's number bounded; beat prunes everybody's through one
-- function. Nobody changes one.
REVOKE ALL ON FUNCTION longtail.prune_assemblies(integer, timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION longtail.prune_assemblies(integer, timestamptz) TO longtail_worker;
GRANT INSERT, DELETE ON longtail.assemblies TO longtail_api;
REVOKE ALL ON longtail.assemblies FROM longtail_worker;
