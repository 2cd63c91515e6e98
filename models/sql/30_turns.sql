-- The raw record: turns in, once each, and never changed.

-- Accept, in one round trip: opens the session, appends the turns once each, queues the work on them. Called outside
-- of a transaction it is one, so a caller waits for one answer and one commit. Row security holds inside it: it
-- names the tenant and what the token opens, and runs as the caller. A key left NULL is made from the place a turn gets.
DROP FUNCTION IF EXISTS longtail.accept_turns(uuid, text, text, boolean, text, text, text, text[], text[], text[], text[], text[],
    bytea[], timestamptz[], text[]);
DROP FUNCTION IF EXISTS longtail.accept_turns(uuid, text, text, boolean, text, text, text, text[], text[], text[], text[], text[],
    bytea[], timestamptz[], text[], integer[]);
DROP FUNCTION IF EXISTS longtail.accept_turns(uuid, text, text, boolean, text, text, text, text, text[], text[], text[], text[],
    text[], bytea[], timestamptz[], text[], integer[]);
CREATE OR REPLACE FUNCTION longtail.accept_turns(
    of_tenant uuid, by_pass text, opens text, in_session text, as_shared boolean, named_namespace text, of_user text, of_key text,
    of_agent text, roles text[], contents text[], names text[], host_ids text[], keys text[], digests bytea[],
    moments timestamptz[], extras text[], costs integer[]
) RETURNS TABLE (place integer, turn_id uuid, is_new boolean, content_differs boolean, namespace text, waiting bigint)
LANGUAGE plpgsql VOLATILE SET search_path = longtail, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    first_position bigint;
    home text;
    session_is_shared boolean;
    before bigint;
    new_ids uuid[];
    new_keys text[];
    alive integer[];
    grave text;
BEGIN
    PERFORM set_config('longtail.tenant_id', of_tenant::text, true), set_config('longtail.pass', by_pass, true),
            set_config('longtail.opens', opens, true);
    SELECT found.home INTO home FROM longtail.find_home(in_session, named_namespace, of_user, of_key, of_agent) AS found;
    -- What was erased from this session does not come back: it is answered without an id, and opens nothing. A bound token is
    -- told so of its own namespaces alone: it must not learn by guessing what somebody else had erased.
    grave := CASE WHEN longtail.opens_all() THEN '' ELSE home || E'\n' END || in_session || E'\n';
    alive := ARRAY(
        SELECT ordinal::integer FROM unnest(
            longtail.is_buried('turn', ARRAY(SELECT grave || encode(one, 'hex') FROM unnest(digests) WITH ORDINALITY AS given (one, ordinal) ORDER BY ordinal)),
            longtail.is_buried('key', ARRAY(SELECT grave || coalesce(one, '') FROM unnest(keys) WITH ORDINALITY AS given (one, ordinal) ORDER BY ordinal))
        ) WITH ORDINALITY AS found (is_known_text, is_known_key, ordinal)
        WHERE NOT (is_known_text OR is_known_key) ORDER BY ordinal);
    IF cardinality(alive) < cardinality(roles) THEN
        RETURN QUERY SELECT number - 1, NULL::uuid, false, false, home, 0::bigint
        FROM generate_series(1, cardinality(roles)) AS number WHERE number <> ALL (alive);
        IF cardinality(alive) = 0 THEN
            RETURN;
        END IF;
        roles := ARRAY(SELECT roles[one] FROM unnest(alive) AS one);
        contents := ARRAY(SELECT contents[one] FROM unnest(alive) AS one);
        names := ARRAY(SELECT names[one] FROM unnest(alive) AS one);
        host_ids := ARRAY(SELECT host_ids[one] FROM unnest(alive) AS one);
        keys := ARRAY(SELECT keys[one] FROM unnest(alive) AS one);
        digests := ARRAY(SELECT digests[one] FROM unnest(alive) AS one);
        moments := ARRAY(SELECT moments[one] FROM unnest(alive) AS one);
        extras := ARRAY(SELECT extras[one] FROM unnest(alive) AS one);
        costs := ARRAY(SELECT costs[one] FROM unnest(alive) AS one);
    END IF;
    -- The row lock this takes orders every call of one session, so positions never race.
    INSERT INTO sessions AS known
        (tenant_id, session_id, namespace, user_id, session_key, agent_id, next_position, last_turn_at, is_shared)
    VALUES (of_tenant, in_session, home, of_user, of_key, of_agent, cardinality(roles), now(), coalesce(as_shared, false))
    ON CONFLICT (tenant_id, session_id) DO UPDATE
    SET next_position = known.next_position + cardinality(roles), last_turn_at = now()
    RETURNING known.next_position - cardinality(roles), known.is_shared INTO first_position, session_is_shared;
    IF as_shared AND NOT session_is_shared THEN
        RAISE EXCEPTION 'session ''%'' was opened for one identity alone', left(in_session, 64) USING ERRCODE = 'LT409';
    END IF;
    IF first_position > 0 THEN  -- asked again, now that nobody else can open the session first
        SELECT found.home INTO home FROM longtail.find_home(in_session, named_namespace, of_user, of_key, of_agent) AS found;
        UPDATE sessions SET namespace = home, user_id = coalesce(user_id, of_user),
                            session_key = coalesce(session_key, of_key), agent_id = coalesce(agent_id, of_agent)
        WHERE tenant_id = of_tenant AND session_id = in_session AND NOT is_shared
          AND (namespace <> home OR user_id IS NULL AND of_user IS NOT NULL
               OR session_key IS NULL AND of_key IS NOT NULL OR agent_id IS NULL AND of_agent IS NOT NULL);
    END IF;
    keys := ARRAY(
        SELECT coalesce(key, format('position:%s:%s', first_position + ordinal - 1, left(encode(digest, 'hex'), 16)))
        FROM unnest(keys, digests) WITH ORDINALITY AS given (key, digest, ordinal) ORDER BY ordinal);
    SELECT count(*) INTO before FROM work
    WHERE tenant_id = of_tenant AND namespace = home AND stage IN ('accepted', 'ingested', 'embedded');
    WITH appended AS (
        INSERT INTO turns (tenant_id, session_id, position, namespace, role, content, name, host_message_id,
                           dedup_key, content_sha256, ts, metadata, tokens)
        SELECT of_tenant, in_session, first_position + ordinal - 1, home, role, content, name, host_id, key, digest, ts,
               extra::jsonb, tokens
        FROM unnest(roles, contents, names, host_ids, keys, digests, moments, extras, costs) WITH ORDINALITY
             AS given (role, content, name, host_id, key, digest, ts, extra, tokens, ordinal)
        ORDER BY ordinal
        ON CONFLICT (tenant_id, session_id, dedup_key) DO NOTHING
        RETURNING id, dedup_key, position, accepted_at
    ), queued AS (
        INSERT INTO work (item_id, tenant_id, kind, namespace, accepted_at)
        SELECT id, of_tenant, 'turn', home, accepted_at FROM appended ORDER BY position
    )
    SELECT array_agg(id), array_agg(dedup_key) INTO new_ids, new_keys FROM appended;
    -- Of two turns with one key in one call, the first is the new one.
    RETURN QUERY
    SELECT alive[ordinal] - 1, coalesce(fresh.id, known.id),
           fresh.id IS NOT NULL AND row_number() OVER (PARTITION BY key ORDER BY ordinal) = 1,
           coalesce(known.content_sha256 <> digest, false), home, before + coalesce(cardinality(new_ids), 0)
    FROM unnest(keys, digests) WITH ORDINALITY AS given (key, digest, ordinal)
    LEFT JOIN unnest(new_ids, new_keys) AS fresh (id, fresh_key) ON fresh_key = key
    LEFT JOIN turns AS known
           ON cardinality(keys) > coalesce(cardinality(new_ids), 0)
          AND known.tenant_id = of_tenant AND known.session_id = in_session AND known.dedup_key = key
    ORDER BY ordinal;
END
$$;

-- The second lock on raw turns, behind the missing grant: even the owner's own mistakes are refused. What
-- `erase` or the erasure of a whole tenant names is let go, and only by DELETE.
CREATE OR REPLACE FUNCTION longtail.refuse_change() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' AND current_setting('longtail.erasing', true) IN (OLD.tenant_id || ':' || OLD.namespace, OLD.tenant_id || ':*') THEN
        RETURN OLD;
    END IF;
    RAISE EXCEPTION 'raw turns are append-only: % on longtail.turns is refused', TG_OP
        USING ERRCODE = 'restrict_violation';
END
$$;

CREATE OR REPLACE TRIGGER turns_are_append_only
BEFORE UPDATE OR DELETE ON longtail.turns FOR EACH ROW EXECUTE FUNCTION longtail.refuse_change();
CREATE OR REPLACE TRIGGER turns_are_never_truncated
BEFORE TRUNCATE ON longtail.turns FOR EACH STATEMENT EXECUTE FUNCTION longtail.refuse_change();
