-- Whose transaction this is, what it opens, and whose token. A SECURITY DEFINER function runs as the owner, whom row
-- security binds on behalf of a service role unless the function sets `longtail.across`: each does one narrow thing and pins its search_path; docs/architecture.md lists them.

-- A service role acts for the tenant whose pass its transaction sets (decision 47); policies ask the same in their own words
-- (80_row_security.sql). The owner, who sees every tenant, names one.
CREATE OR REPLACE FUNCTION longtail.current_seal() RETURNS bytea
LANGUAGE sql STABLE PARALLEL SAFE
RETURN sha256(uuid_send(nullif(current_setting('longtail.pass', true), '')::uuid));

CREATE OR REPLACE FUNCTION longtail.current_tenant() RETURNS uuid
LANGUAGE sql STABLE PARALLEL SAFE
RETURN CASE WHEN session_user IN ('longtail_api', 'longtail_worker')
    THEN (SELECT passes.tenant FROM longtail.passes WHERE passes.seal = longtail.current_seal())
    ELSE nullif(current_setting('longtail.tenant_id', true), '')::uuid END;

CREATE OR REPLACE FUNCTION longtail.give_pass() RETURNS trigger
LANGUAGE plpgsql SET search_path = longtail, pg_temp
AS $$
BEGIN
    INSERT INTO passes (tenant) VALUES (NEW.id);
    RETURN NULL;
END
$$;
CREATE OR REPLACE TRIGGER tenants_have_a_pass
AFTER INSERT ON longtail.tenants FOR EACH ROW EXECUTE FUNCTION longtail.give_pass();

-- `longtail.opens` is '*' for all of the tenant, else the array of namespaces that a bound token opens. Unset: nothing.
CREATE OR REPLACE FUNCTION longtail.opens_all() RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
RETURN coalesce(current_setting('longtail.opens', true) = '*', false);

CREATE OR REPLACE FUNCTION longtail.opened_namespaces() RETURNS text[]
LANGUAGE sql STABLE PARALLEL SAFE
RETURN coalesce(nullif(nullif(current_setting('longtail.opens', true), '*'), ''), '{}')::text[];

-- Where a bound token may write: the namespaces it names, and the documents of those users and agents.
CREATE OR REPLACE FUNCTION longtail.opened() RETURNS text[]
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT coalesce(array_agg(place), '{}')
    FROM unnest(longtail.opened_namespaces()) AS namespace, unnest(ARRAY[namespace, 'authored:' || CASE
        WHEN starts_with(namespace, 'agent-id:') THEN 'agent:' || substr(namespace, 10)
        ELSE 'user:' || namespace END]) AS place
$$;

-- And where it may read: what the whole tenant shares, besides.
CREATE OR REPLACE FUNCTION longtail.readable() RETURNS text[]
LANGUAGE sql STABLE PARALLEL SAFE
RETURN longtail.opened() || ARRAY['global', 'authored:tenant'];

-- Whose token is this? Callers learn what a token they already hold opens, and nothing else.
DROP FUNCTION IF EXISTS longtail.authenticate(bytea);
CREATE FUNCTION longtail.authenticate(presented_sha256 bytea) RETURNS TABLE (
    token_id uuid, tenant_id uuid, scopes text[], namespaces text[], agents text[], expires_at timestamptz, marker text,
    pass uuid)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = longtail, pg_temp
AS $$
#variable_conflict use_column
BEGIN
    PERFORM set_config('longtail.across', 'on', true);  -- every tenant's rows, see 80_row_security.sql
    UPDATE tokens SET last_used_at = now()
    WHERE token_sha256 = presented_sha256 AND revoked_at IS NULL AND coalesce(expires_at > now(), true)
      AND coalesce(last_used_at < now() - interval '1 minute', true);
    RETURN QUERY
    SELECT tokens.id, tokens.tenant_id, tokens.scopes, tokens.namespaces, tokens.agents, tokens.expires_at, tenants.marker,
           passes.secret
    FROM tokens JOIN tenants ON tenants.id = tokens.tenant_id JOIN passes ON passes.tenant = tenants.id
    WHERE token_sha256 = presented_sha256 AND revoked_at IS NULL AND coalesce(expires_at > now(), true);
END
$$;

-- Whose memory a call about a session is about, or a refusal. A session belongs to the namespace that opened it
-- (decision 30). An identity is the owner's when it says the same as the session knows: less of it, or more of it, with one
-- field in common and none that differs. A session that nobody named is its first named speaker's. A shared one is
-- everybody's, and each call is about its own identity. A token bound to one namespace need not name it.
-- A definer function: it must see that a session is somebody else's, which its caller may not.
CREATE OR REPLACE FUNCTION longtail.find_home(
    in_session text, named_namespace text, of_user text, of_key text, of_agent text,
    OUT home text, OUT home_user text, OUT home_agent text, OUT is_known boolean, OUT is_shared boolean
) LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = longtail, pg_temp
AS $$
DECLARE
    known longtail.sessions;
    opens_all boolean := longtail.opens_all();
    opened text[] := longtail.opened_namespaces();
BEGIN
    SELECT * INTO known FROM sessions WHERE tenant_id = longtail.current_tenant() AND session_id = in_session;
    is_known := known.session_id IS NOT NULL;
    is_shared := coalesce(known.is_shared, false);
    IF named_namespace IS NULL AND cardinality(opened) = 1 AND (NOT is_known OR is_shared) THEN
        named_namespace := opened[1];
    END IF;
    IF NOT opens_all AND of_agent IS NOT NULL AND 'agent-id:' || of_agent <> ALL (opened) THEN
        RAISE EXCEPTION 'the token does not open agent ''%''', left(of_agent, 64) USING ERRCODE = 'LT403';
    END IF;
    home_user := of_user;
    home_agent := of_agent;
    IF NOT is_known OR is_shared THEN
        home := coalesce(named_namespace, known.namespace, 'session:' || in_session);
    ELSE
        IF named_namespace IS NULL OR named_namespace = known.namespace THEN
            home := known.namespace;
        ELSIF of_user <> known.user_id OR of_key <> known.session_key OR of_agent <> known.agent_id
              OR NOT (coalesce(of_user = known.user_id, false) OR coalesce(of_key = known.session_key, false)
                      OR coalesce(of_agent = known.agent_id, false) OR known.namespace = 'session:' || in_session) THEN
            RAISE EXCEPTION 'session ''%'' belongs to another identity', left(in_session, 64) USING ERRCODE = 'LT409';
        ELSE  -- the more telling of the two: a user, else a session's key, else an agent
            home := CASE WHEN known.user_id IS NOT NULL AND of_user IS NULL
                           OR known.session_key IS NOT NULL AND of_user IS NULL AND of_key IS NULL
                         THEN known.namespace ELSE named_namespace END;
        END IF;
        home_user := coalesce(of_user, known.user_id);
        home_agent := coalesce(of_agent, known.agent_id);
    END IF;
    IF NOT opens_all THEN
        IF home <> ALL (opened) THEN
            RAISE EXCEPTION 'the token does not open the namespace this call is about' USING ERRCODE = 'LT403';
        ELSIF is_known AND NOT is_shared AND known.namespace <> ALL (opened) THEN
            RAISE EXCEPTION 'session ''%'' belongs to another identity', left(in_session, 64) USING ERRCODE = 'LT409';
        END IF;
        home_user := CASE WHEN home_user = ANY (opened) THEN home_user END;
        home_agent := CASE WHEN 'agent-id:' || home_agent = ANY (opened) THEN home_agent END;
    END IF;
END
$$;
