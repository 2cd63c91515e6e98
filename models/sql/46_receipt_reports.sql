-- Reports on prompts: numbers, no text.
CREATE VIEW reporting.assemblies AS
SELECT tenants.name AS tenant, kept.id, kept.session_id, kept.made_at,
       (kept.receipt #>> '{budget,total}')::integer AS total_tokens,
       (kept.receipt #>> '{budget,used}')::integer AS used_tokens,
       (kept.receipt #>> '{budget,hard}')::integer AS hard_tokens,
       (kept.receipt #>> '{budget,soft}')::integer AS soft_tokens,
       (kept.receipt #>> '{budget,tail}')::integer AS tail_tokens,
       (kept.receipt #>> '{budget,guidance}')::integer AS guidance_tokens,
       (kept.receipt #>> '{budget,recall}')::integer AS recall_tokens,
       (kept.receipt #>> '{timings_ms,total}')::float8 AS total_ms,
       ARRAY(SELECT miss ->> 'code' FROM jsonb_array_elements(kept.receipt -> 'degraded') AS miss) AS degraded,
       kept.receipt ->> 'settings_version' AS settings_version
FROM longtail.assemblies AS kept JOIN longtail.tenants ON tenants.id = kept.tenant_id;

GRANT SELECT ON reporting.assemblies TO longtail_report;
