-- Tokens and who issues them: an administrator of the whole tenant, within the tenant of the transaction. No service role
-- reads `tokens` itself, and only the hash of a token is kept.

CREATE OR REPLACE FUNCTION longtail.check_administration() RETURNS uuid
LANGUAGE plpgsql STABLE SET search_path = longtail, pg_temp
AS $$
BEGIN
    IF longtail.current_tenant() IS NULL OR NOT longtail.opens_all() THEN
        RAISE EXCEPTION 'tokens are issued with a token of the whole tenant' USING ERRCODE = 'LT403';
    END IF;
    RETURN longtail.current_tenant();
END
$$;

CREATE OR REPLACE FUNCTION longtail.issue_token(
    presented_sha256 bytea, of_scopes text[], of_namespaces text[], of_agents text[], called text, until timestamptz
) RETURNS uuid
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = longtail, pg_temp
AS $$
    INSERT INTO tokens (tenant_id, token_sha256, scopes, namespaces, agents, label, expires_at)
    VALUES (longtail.check_administration(), presented_sha256, of_scopes, of_namespaces, of_agents, called, until)
    RETURNING id
$$;

CREATE OR REPLACE FUNCTION longtail.list_tokens() RETURNS TABLE (
    id uuid, scopes text[], namespaces text[], agents text[], label text, created_at timestamptz, expires_at timestamptz,
    last_used_at timestamptz, revoked_at timestamptz)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = longtail, pg_temp
AS $$
    SELECT id, scopes, namespaces, agents, label, created_at, expires_at, last_used_at, revoked_at FROM tokens
    WHERE tenant_id = longtail.check_administration() ORDER BY created_at, id
$$;

-- When it was revoked, now or before; NULL for a token that is not this tenant's.
CREATE OR REPLACE FUNCTION longtail.revoke_token(which uuid) RETURNS timestamptz
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = longtail, pg_temp
AS $$
    UPDATE tokens SET revoked_at = coalesce(revoked_at, now())
    WHERE id = which AND tenant_id = longtail.check_administration() RETURNING revoked_at
$$;

-- Of tokens that a process has seen, those that still open something: what it knows is true to a few seconds, so that
-- a token revoked before PostgreSQL goes away does not come back while it is away.
CREATE OR REPLACE FUNCTION longtail.living_tokens(presented bytea[]) RETURNS SETOF bytea
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = longtail, pg_temp
AS $$
    SELECT set_config('longtail.across', 'on', true);  -- every tenant's rows, see 80_row_security.sql
    SELECT token_sha256 FROM tokens
    WHERE token_sha256 = ANY(presented) AND revoked_at IS NULL AND coalesce(expires_at > now(), true)
$$;
