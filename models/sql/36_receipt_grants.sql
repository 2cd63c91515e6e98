-- Receipts are written, read and pruned by the API alone.
GRANT INSERT, DELETE ON longtail.assemblies TO longtail_api;
