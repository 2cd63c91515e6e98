-- Reports on compaction: numbers, no text.
CREATE VIEW reporting.compaction AS
SELECT tenants.name AS tenant, state.session_id, state.generation, state.covered_through, state.uncompacted_tokens,
       state.ran_at, state.requested_at, state.attempts,
       count(summaries.id) AS summaries, count(summaries.id) FILTER (WHERE summaries.is_active) AS active_summaries,
       coalesce(max(summaries.level), 0) AS levels,
       coalesce(sum(summaries.turn_count) FILTER (WHERE summaries.is_active), 0) AS covered_turns,
       coalesce(sum(summaries.turn_tokens) FILTER (WHERE summaries.is_active), 0) AS covered_tokens,
       coalesce(sum(summaries.summary_tokens) FILTER (WHERE summaries.is_active), 0) AS active_tokens,
       avg(summaries.confidence) FILTER (WHERE summaries.is_active) AS mean_confidence
FROM longtail.compactions AS state
JOIN longtail.tenants ON tenants.id = state.tenant_id
LEFT JOIN longtail.summaries ON summaries.tenant_id = state.tenant_id AND summaries.session_id = state.session_id
GROUP BY tenants.name, state.tenant_id, state.session_id;

CREATE VIEW reporting.summaries AS
SELECT tenants.name AS tenant, summaries.session_id, summaries.id, summaries.level, summaries.method, summaries.attempt,
       summaries.backend, summaries.confidence, 1 - summaries.confidence AS decay, summaries.align, summaries.cover,
       summaries.summary_tokens, summaries.source_tokens, summaries.turn_count, summaries.turn_tokens, summaries.is_active, summaries.made_at
FROM longtail.summaries JOIN longtail.tenants ON tenants.id = summaries.tenant_id;

CREATE VIEW reporting.lineage AS
SELECT DISTINCT ON (checks.tenant_id) tenants.name AS tenant, checks.checked_at, checks.sessions, checks.summaries,
       checks.turns, checks.violations, checks.kinds, checks.seconds
FROM longtail.lineage_checks AS checks JOIN longtail.tenants ON tenants.id = checks.tenant_id
ORDER BY checks.tenant_id, checks.checked_at DESC;

GRANT SELECT ON reporting.compaction, reporting.summaries, reporting.lineage TO longtail_report;
