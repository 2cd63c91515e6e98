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
       gate.g, gate.t, gate.h, gate.r, gate.d, gate.input_freq, gate.mem_saturation, gate.p, gate.a, gate.dtech,
       gate.gconv, gate.gtech, gate.reasons, gate.memory_id, gate.decided_at
FROM longtail.gate_decisions AS gate JOIN longtail.tenants ON tenants.id = gate.tenant_id;

CREATE VIEW reporting.sessions AS
SELECT tenants.name AS tenant, sessions.session_id, sessions.namespace, sessions.created_at, sessions.last_turn_at,
       (SELECT count(*) FROM longtail.turns
        WHERE turns.tenant_id = sessions.tenant_id AND turns.session_id = sessions.session_id) AS turns
FROM longtail.sessions JOIN longtail.tenants ON tenants.id = sessions.tenant_id;

CREATE VIEW reporting.dead_letters AS
SELECT tenants.name AS tenant, dead.item_id, dead.stage, dead.reason, dead.attempts, dead.failed_at
FROM longtail.dead_letters AS dead JOIN longtail.tenants ON tenants.id = dead.tenant_id;

GRANT USAGE ON SCHEMA reporting TO longtail_report;
GRANT SELECT ON ALL TABLES IN SCHEMA reporting TO longtail_report;
