-- Named collections are written and read by the API alone.
GRANT INSERT, UPDATE, DELETE ON longtail.records TO longtail_api;
