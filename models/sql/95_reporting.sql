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
       gate.score, gate.worth, gate.g AS seed_score, gate.t AS technical_density, gate.h AS novelty, gate.r AS repetition, gate.d AS conversational_load,
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

-- By day and by thing: what an operator asks first.

CREATE VIEW reporting.gate_daily AS
SELECT tenant, (decided_at AT TIME ZONE 'UTC')::date AS day, count(*) AS decisions, count(*) FILTER (WHERE keep) AS kept,
       count(*) FILTER (WHERE is_reinforcement) AS reinforced,
       round(avg(keep::integer), 3) AS keep_rate, round(avg(score)::numeric, 3) AS mean_score,
       round(avg(threshold)::numeric, 3) AS mean_threshold
FROM reporting.gate GROUP BY 1, 2;

CREATE VIEW reporting.memory_growth AS
WITH changes AS (
    SELECT tenant_id, (accepted_at AT TIME ZONE 'UTC')::date AS day, 1 AS turns, 0 AS made, 0 AS forgotten FROM longtail.turns
    UNION ALL
    SELECT memories.tenant_id, (turns.accepted_at AT TIME ZONE 'UTC')::date, 0, 1, 0
    FROM longtail.memories JOIN longtail.turns ON turns.id = memories.turn_id
    UNION ALL
    SELECT tenant_id, (forgotten_at AT TIME ZONE 'UTC')::date, 0, 0, 1 FROM longtail.memories WHERE forgotten_at IS NOT NULL
), daily AS (
    SELECT tenant_id, day, sum(turns) AS new_turns, sum(made) AS new_memories, sum(forgotten) AS forgotten_memories
    FROM changes GROUP BY 1, 2
)
SELECT tenants.name AS tenant, daily.day, daily.new_turns, daily.new_memories, daily.forgotten_memories,
       sum(daily.new_memories - daily.forgotten_memories) OVER (PARTITION BY daily.tenant_id ORDER BY daily.day) AS memories
FROM daily JOIN longtail.tenants ON tenants.id = daily.tenant_id;

CREATE VIEW reporting.compaction_yield AS
SELECT tenant, (made_at AT TIME ZONE 'UTC')::date AS day, count(*) AS summaries, sum(turn_count) AS covered_turns,
       sum(source_tokens) AS source_tokens, sum(summary_tokens) AS summary_tokens,
       round(1 - sum(summary_tokens)::numeric / nullif(sum(source_tokens), 0), 3) AS saved_share,
       round(avg(confidence)::numeric, 3) AS mean_confidence
FROM reporting.summaries WHERE level = 1 GROUP BY 1, 2;

CREATE VIEW reporting.assembly_daily AS
SELECT tenant, (made_at AT TIME ZONE 'UTC')::date AS day, count(*) AS assemblies,
       round(percentile_cont(0.5) WITHIN GROUP (ORDER BY total_ms)::numeric, 1) AS p50_ms,
       round(percentile_cont(0.95) WITHIN GROUP (ORDER BY total_ms)::numeric, 1) AS p95_ms,
       count(*) FILTER (WHERE cardinality(degraded) > 0) AS degraded_answers,
       round(avg((cardinality(degraded) > 0)::integer), 3) AS degraded_share,
       round(avg(used_tokens::numeric / nullif(total_tokens, 0)), 3) AS used_share
FROM reporting.assemblies GROUP BY 1, 2;

CREATE VIEW reporting.degraded_codes AS
SELECT tenant, (made_at AT TIME ZONE 'UTC')::date AS day, code, count(DISTINCT id) AS answers
FROM reporting.assemblies, unnest(degraded) AS code GROUP BY 1, 2, 3;

-- A prompt cache keeps what did not change since the last prompt of the same session.
CREATE VIEW reporting.prompt_cache AS
WITH prompts AS (
    SELECT tenant_id, made_at, receipt #>> '{stable,sha256}' AS stable,
           lag(receipt #>> '{stable,sha256}') OVER (PARTITION BY tenant_id, session_id ORDER BY made_at, id) AS before
    FROM longtail.assemblies
)
SELECT tenants.name AS tenant, (prompts.made_at AT TIME ZONE 'UTC')::date AS day, count(*) AS follow_up_prompts,
       count(*) FILTER (WHERE stable = before) AS unchanged_prompts,
       round(avg((stable = before)::integer), 3) AS unchanged_share
FROM prompts JOIN longtail.tenants ON tenants.id = prompts.tenant_id
WHERE before IS NOT NULL GROUP BY tenants.name, 2;

-- Which memories reached prompts: read off the receipts that are kept. Places in a candidate's row: its tier 0, id 2,
-- turn 3, fate 4 (receipt version 1).
CREATE VIEW reporting.memory_use AS
WITH chosen AS (
    SELECT kept.tenant_id, coalesce(row ->> 3, row ->> 2)::uuid AS turn_id, count(DISTINCT kept.id) AS prompts,
           max(kept.made_at) AS last_in_prompt_at
    FROM longtail.assemblies AS kept, jsonb_array_elements(kept.receipt #> '{candidates,rows}') AS row
    WHERE row ->> 0 = 'recall' AND row ->> 4 = 'chosen' GROUP BY 1, 2
), labels AS (
    SELECT tenant_id, turn_id, count(*) FILTER (WHERE is_useful) AS useful_labels,
           count(*) FILTER (WHERE NOT is_useful) AS useless_labels
    FROM longtail.feedback GROUP BY 1, 2
)
SELECT tenants.name AS tenant, memories.namespace, memories.id AS memory_id, memories.gate_score AS score,
       memories.mention_count AS mentions, turns.accepted_at AS known_since,
       coalesce(chosen.prompts, 0) AS prompts, chosen.last_in_prompt_at,
       coalesce(labels.useful_labels, 0) AS useful_labels, coalesce(labels.useless_labels, 0) AS useless_labels,
       items.token_estimate AS memory_tokens
FROM longtail.memories
JOIN longtail.tenants ON tenants.id = memories.tenant_id
JOIN longtail.turns ON turns.id = memories.turn_id
LEFT JOIN longtail.items ON items.tenant_id = memories.tenant_id AND items.id = memories.turn_id
LEFT JOIN chosen ON chosen.tenant_id = memories.tenant_id AND chosen.turn_id IN (memories.turn_id, memories.id)
LEFT JOIN labels ON labels.tenant_id = memories.tenant_id AND labels.turn_id = memories.turn_id
WHERE memories.forgotten_at IS NULL;

CREATE VIEW reporting.most_recalled AS
SELECT tenant, namespace, memory_id, prompts, last_in_prompt_at, score, mentions
FROM reporting.memory_use WHERE prompts > 0 ORDER BY prompts DESC, last_in_prompt_at DESC;

CREATE VIEW reporting.never_recalled AS
SELECT tenant, namespace, memory_id, known_since, score, mentions
FROM reporting.memory_use WHERE prompts = 0 ORDER BY known_since;

CREATE VIEW reporting.junk_candidates AS
SELECT tenant, namespace, memory_id, score, memory_tokens, mentions, prompts, useless_labels, signs
FROM (
    SELECT memory_use.*, array_remove(ARRAY[
        CASE WHEN useless_labels > useful_labels THEN 'labelled useless' END,
        CASE WHEN memory_tokens <= 4 THEN 'very short' END,
        CASE WHEN prompts = 0 AND mentions = 1 AND known_since < now() - interval '30 days' THEN 'unused for 30 days' END
    ], NULL) AS signs
    FROM reporting.memory_use
) AS judged
WHERE cardinality(signs) > 0 ORDER BY cardinality(signs) DESC, score;

CREATE VIEW reporting.lag_hourly AS
SELECT tenants.name AS tenant, date_trunc('hour', work.accepted_at, 'UTC') AS hour, count(*) AS items,
       count(*) FILTER (WHERE stage NOT IN ('done', 'failed')) AS still_waiting,
       round(percentile_cont(0.5) WITHIN GROUP (ORDER BY extract(epoch FROM updated_at - accepted_at))
             FILTER (WHERE stage = 'done')::numeric, 2) AS p50_seconds,
       round(percentile_cont(0.95) WITHIN GROUP (ORDER BY extract(epoch FROM updated_at - accepted_at))
             FILTER (WHERE stage = 'done')::numeric, 2) AS p95_seconds
FROM longtail.work JOIN longtail.tenants ON tenants.id = work.tenant_id GROUP BY tenants.name, 2;

CREATE VIEW reporting.usage AS
SELECT tenants.name AS tenant,
       (SELECT count(*) FROM longtail.sessions AS one WHERE one.tenant_id = tenants.id) AS sessions,
       (SELECT count(*) FROM longtail.turns AS one WHERE one.tenant_id = tenants.id) AS turns,
       (SELECT coalesce(sum(one.tokens), 0) FROM longtail.turns AS one WHERE one.tenant_id = tenants.id) AS turn_tokens,
       (SELECT count(*) FROM longtail.memories AS one WHERE one.tenant_id = tenants.id AND one.forgotten_at IS NULL) AS memories,
       (SELECT count(*) FROM longtail.summaries AS one WHERE one.tenant_id = tenants.id) AS summaries,
       (SELECT count(*) FROM longtail.documents AS one WHERE one.tenant_id = tenants.id) AS documents,
       (SELECT count(*) FROM longtail.assemblies AS one WHERE one.tenant_id = tenants.id) AS receipts,
       (SELECT max(one.last_turn_at) FROM longtail.sessions AS one WHERE one.tenant_id = tenants.id) AS last_turn_at
FROM longtail.tenants;

CREATE VIEW reporting.rules_in_force AS
SELECT tenants.name AS tenant, 'document' AS source, documents.name AS origin,
       CASE nodes.tier WHEN 1 THEN 'hard' ELSE 'soft' END AS tier, count(*) AS rules, 0::bigint AS superseded
FROM longtail.document_nodes AS nodes
JOIN longtail.documents ON documents.tenant_id = nodes.tenant_id AND documents.id = nodes.document_id
JOIN longtail.tenants ON tenants.id = documents.tenant_id
WHERE nodes.tier IN (1, 2) GROUP BY tenants.name, documents.id, documents.name, nodes.tier
UNION ALL
SELECT tenants.name, 'conversation', guidance.collection, 'guidance',
       count(*) FILTER (WHERE superseded_by IS NULL), count(*) FILTER (WHERE superseded_by IS NOT NULL)
FROM longtail.guidance JOIN longtail.tenants ON tenants.id = guidance.tenant_id
WHERE forgotten_at IS NULL GROUP BY tenants.name, guidance.collection;

-- A word on every report and every column: psql shows them (\d+), `longtail report` and docs/reporting.md speak the same.
DO $$
DECLARE
    report record;
    meaning record;
BEGIN
    FOR report IN SELECT * FROM (VALUES
        ('pipeline', 'What waits for the workers, and what they are done with, by stage.'),
        ('gate', 'Every decision of the gate with its score and all signals.'),
        ('sessions', 'Every session and how long it is.'),
        ('dead_letters', 'What the workers gave up, and why.'),
        ('compaction', 'Every compacted session: how much of it summaries cover.'),
        ('summaries', 'Every summary: what it replaces and how well.'),
        ('lineage', 'The newest proof, for each tenant, that no turn was lost.'),
        ('assemblies', 'Every prompt whose receipt is kept: its budget and its time.'),
        ('gate_daily', 'How much the gate keeps, by day.'),
        ('memory_growth', 'How turns and memories grow, by day.'),
        ('compaction_yield', 'What compaction saves, by day.'),
        ('assembly_daily', 'How fast and how whole prompts were, by day.'),
        ('degraded_codes', 'What was missing from prompts, by day.'),
        ('prompt_cache', 'How often a prompt began exactly like the one before it in its session, by day.'),
        ('memory_use', 'Every memory, and how often it reached a prompt.'),
        ('most_recalled', 'The memories that reached prompts, most often first.'),
        ('never_recalled', 'The memories that reached no prompt, oldest first.'),
        ('junk_candidates', 'Memories that somebody may want to forget, and what speaks against each.'),
        ('lag_hourly', 'How long a turn took from accepted to remembered, by hour.'),
        ('usage', 'How much each tenant holds.'),
        ('rules_in_force', 'How many rules stand, by document and by speaker.')
    ) AS words (name, means) LOOP
        EXECUTE format('COMMENT ON VIEW reporting.%I IS %L', report.name, report.means);
    END LOOP;
    -- A column means the same wherever it stands.
    FOR meaning IN SELECT columns.table_name, columns.column_name, words.means FROM information_schema.columns JOIN (VALUES
        ('tenant', 'Name of the tenant.'),
        ('namespace', 'Whose memory it is.'),
        ('session_id', 'The session, as the host names it.'),
        ('stage', 'Where in the pipeline: accepted, ingested, embedded, done or failed.'),
        ('items', 'How many turns, nodes and imported summaries.'),
        ('oldest_accepted_at', 'When the oldest of them was accepted.'),
        ('most_attempts', 'The most attempts that one of them took.'),
        ('turn_id', 'The turn that was judged.'),
        ('keep', 'Whether it became, or reinforced, a durable memory.'),
        ('threshold', 'The score that was needed.'),
        ('is_reinforcement', 'Whether it says what a memory said before.'),
        ('score', 'K: the score of the gate, 0 to 1.'),
        ('worth', 'W: how much the words tell, 0 to 1; none for decisions made before it was measured.'),
        ('seed_score', 'G: novelty, repetition and what the text holds, 0 to 1.'),
        ('technical_density', 'T: how technical the text is, 0 to 1.'),
        ('novelty', 'H: how unlike durable memory it is, 0 to 1.'),
        ('repetition', 'R: how often the user says such things, 0 to 1.'),
        ('conversational_load', 'Dnl: preferences, dates, people, quantities, 0 to 1.'),
        ('input_frequency', 'F: share of like turns among the ten nearest, 0 to 1.'),
        ('memory_saturation', 'S: share of like memories among the five nearest, 0 to 1.'),
        ('specificity', 'P: error codes, paths, references by length, 0 to 1.'),
        ('actionability', 'A: decisions, fixes, changes, 0 to 1.'),
        ('technical_load', 'Dtech: definitions, structures, dependencies, 0 to 1.'),
        ('conversational_score', 'Gconv: the conversational branch, 0 to 1.'),
        ('technical_score', 'Gtech: the technical branch, 0 to 1.'),
        ('reasons', 'Names of the cues that were found.'),
        ('memory_id', 'The memory.'),
        ('decided_at', 'When the gate decided.'),
        ('created_at', 'When the session was opened.'),
        ('last_turn_at', 'When its newest turn was accepted.'),
        ('turns', 'How many turns.'),
        ('item_id', 'The turn or node.'),
        ('reason', 'The error, without any remembered text.'),
        ('attempts', 'How often it was tried.'),
        ('failed_at', 'When it was given up.'),
        ('generation', 'How often the session was compacted.'),
        ('covered_through', 'The last position that summaries cover.'),
        ('uncompacted_tokens', 'Tokens that no summary covers, the tail included.'),
        ('ran_at', 'When it was compacted last.'),
        ('requested_at', 'When a compaction was asked for that has not run.'),
        ('summaries', 'How many summaries.'),
        ('active_summaries', 'Summaries that no higher one covers.'),
        ('levels', 'The highest level of summaries.'),
        ('covered_turns', 'Raw turns below these summaries.'),
        ('covered_tokens', 'What those turns cost.'),
        ('active_tokens', 'What the active summaries cost.'),
        ('mean_confidence', 'Mean confidence of these summaries, 0 to 1.'),
        ('id', 'Its id.'),
        ('level', '1 covers turns, each higher one covers summaries.'),
        ('method', 'extractive or abstractive.'),
        ('attempt', 'Which attempt succeeded: normal, aggressive or the bounded fallback.'),
        ('backend', 'What wrote it.'),
        ('confidence', 'How well it stands for its sources, 0 to 1.'),
        ('decay', '1 - confidence.'),
        ('align', 'Cosine to the mean of its sources.'),
        ('cover', 'Mean cosine to each source.'),
        ('summary_tokens', 'What the summaries cost.'),
        ('source_tokens', 'What they replace.'),
        ('turn_count', 'Raw turns below it.'),
        ('turn_tokens', 'What the raw turns cost.'),
        ('is_active', 'Whether no higher summary covers it.'),
        ('made_at', 'When it was made.'),
        ('checked_at', 'When the proof ran.'),
        ('sessions', 'How many sessions.'),
        ('violations', 'What was found wrong; should be 0.'),
        ('kinds', 'Violations by kind.'),
        ('seconds', 'How long the proof took.'),
        ('total_tokens', 'The budget.'),
        ('used_tokens', 'What the prompt used of it.'),
        ('hard_tokens', 'Tokens of hard rules.'),
        ('soft_tokens', 'Tokens of soft rules.'),
        ('tail_tokens', 'Tokens of the newest turns.'),
        ('guidance_tokens', 'Tokens of standing wishes.'),
        ('recall_tokens', 'Tokens of recalled memory.'),
        ('total_ms', 'Milliseconds from request to answer.'),
        ('degraded', 'Codes of what was missing.'),
        ('settings_version', 'Names the settings in force.'),
        ('day', 'The day, in UTC.'),
        ('hour', 'The hour, in UTC.'),
        ('decisions', 'How many turns were judged.'),
        ('kept', 'How many were kept.'),
        ('reinforced', 'How many of those reinforced a memory that was there.'),
        ('keep_rate', 'Share kept, 0 to 1.'),
        ('mean_score', 'Mean score, 0 to 1.'),
        ('mean_threshold', 'Mean score that was needed.'),
        ('new_turns', 'Turns accepted that day.'),
        ('new_memories', 'Memories made from them.'),
        ('forgotten_memories', 'Memories forgotten that day.'),
        ('memories', 'Memories that are recalled.'),
        ('saved_share', '1 - summary tokens / source tokens.'),
        ('assemblies', 'How many prompts have a receipt.'),
        ('p50_ms', 'Median milliseconds of a prompt.'),
        ('p95_ms', '95th percentile of milliseconds.'),
        ('degraded_answers', 'Prompts that named something missing.'),
        ('degraded_share', 'Their share, 0 to 1.'),
        ('used_share', 'Mean share of the budget that was used, 0 to 1.'),
        ('code', 'What was missing; docs/errors.md explains it.'),
        ('answers', 'How many prompts said so.'),
        ('follow_up_prompts', 'Prompts that had one before them in their session.'),
        ('unchanged_prompts', 'Those whose stable part was the same to the byte.'),
        ('unchanged_share', 'Their share, 0 to 1.'),
        ('mentions', 'How often it was said.'),
        ('known_since', 'When its first turn was accepted.'),
        ('prompts', 'Prompts, of those with a receipt, that it was recalled into.'),
        ('last_in_prompt_at', 'When that was last.'),
        ('useful_labels', 'Feedback that called it useful.'),
        ('useless_labels', 'Feedback that called it useless.'),
        ('memory_tokens', 'What it costs, estimated.'),
        ('signs', 'What speaks against it.'),
        ('still_waiting', 'How many are not remembered yet.'),
        ('p50_seconds', 'Median seconds from accepted to remembered.'),
        ('p95_seconds', '95th percentile of those seconds.'),
        ('documents', 'Authored documents.'),
        ('receipts', 'Receipts that are kept.'),
        ('source', 'document, or conversation.'),
        ('origin', 'The name of the document, or the collection of wishes.'),
        ('tier', 'hard, soft or guidance.'),
        ('rules', 'How many are in force.'),
        ('superseded', 'How many a newer one replaced.')
    ) AS words (name, means) ON words.name = columns.column_name WHERE columns.table_schema = 'reporting' LOOP
        EXECUTE format('COMMENT ON COLUMN reporting.%I.%I IS %L', meaning.table_name, meaning.column_name, meaning.means);
    END LOOP;
END $$;

GRANT USAGE ON SCHEMA reporting TO longtail_report;
GRANT SELECT ON ALL TABLES IN SCHEMA reporting TO longtail_report;
