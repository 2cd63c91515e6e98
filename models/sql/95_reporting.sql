-- Read-only views for operators. security_invoker is off: the report role sees every tenant's numbers, no text.
DROP SCHEMA IF EXISTS reporting CASCADE;
CREATE SCHEMA reporting;

CREATE VIEW reporting.pipeline AS
SELECT tenants.name AS tenant, work.stage, count(*) AS items,
       min(work.accepted_at) AS oldest_accepted_at, max(work.attempts) AS most_attempts
FROM longtail.work JOIN longtail.tenants ON tenants.id = work.tenant_id
GROUP BY tenants.name, work.stage;

CREATE VIEW reporting.gate AS
SELECT tenants.name AS tenant, gate.namespace, gate.turn_id, gate.keep, gate.threshold, gate.is_reinforcement,
       gate.g AS score, gate.t AS technical_density, gate.h AS novelty, gate.r AS repetition, gate.d AS conversational_load,
       gate.input_freq AS input_frequency, gate.mem_saturation AS memory_saturation, gate.p AS specificity,
       gate.a AS actionability, gate.dtech AS technical_load, gate.gconv AS conversational_score,
       gate.gtech AS technical_score, gate.reasons, gate.memory_id, gate.decided_at
FROM longtail.gate_decisions AS gate JOIN longtail.tenants ON tenants.id = gate.tenant_id;

CREATE VIEW reporting.sessions AS
SELECT tenants.name AS tenant, sessions.session_id, sessions.namespace, sessions.created_at, sessions.last_turn_at,
       (SELECT count(*) FROM longtail.turns
        WHERE turns.tenant_id = sessions.tenant_id AND turns.session_id = sessions.session_id) AS turns
FROM longtail.sessions JOIN longtail.tenants ON tenants.id = sessions.tenant_id;

CREATE VIEW reporting.dead_letters AS
SELECT tenants.name AS tenant, dead.item_id, dead.stage, dead.reason, dead.attempts, dead.failed_at
FROM longtail.dead_letters AS dead JOIN longtail.tenants ON tenants.id = dead.tenant_id;

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

GRANT USAGE ON SCHEMA reporting TO longtail_report;
GRANT SELECT ON ALL TABLES IN SCHEMA reporting TO longtail_report;
