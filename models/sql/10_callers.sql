-- Whose transaction this is, and whose token. A SECURITY DEFINER function runs as the owner, whom row security does not
-- bind: each does one narrow thing and pins its search_path; docs/architecture.md lists them.

CREATE OR REPLACE FUNCTION longtail.current_tenant() RETURNS uuid
LANGUAGE sql STABLE PARALLEL SAFE
RETURN nullif(current_setting('longtail.tenant_id', true), '')::uuid;

-- Whose token is this? Callers learn the tenant of a token they already hold, and nothing else.
DROP FUNCTION IF EXISTS longtail.authenticate(bytea);
CREATE FUNCTION longtail.authenticate(presented_sha256 bytea)
RETURNS TABLE (token_id uuid, tenant_id uuid, scopes text[], namespace text, marker text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = longtail, pg_temp
AS $$
    SELECT tokens.id, tokens.tenant_id, tokens.scopes, tokens.namespace, tenants.marker
    FROM tokens JOIN tenants ON tenants.id = tokens.tenant_id WHERE token_sha256 = presented_sha256 AND revoked_at IS NULL
$$;
