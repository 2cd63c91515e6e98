-- What an assembly or a search reads first.

-- Where a call reads: whose memory it is, whose documents apply, and every namespace that recall may search.
DROP FUNCTION IF EXISTS longtail.find_places(uuid, text, text, text, text);
CREATE OR REPLACE FUNCTION longtail.find_places(
    in_session text, named_namespace text, of_user text, of_key text, of_agent text,
    OUT home text, OUT bindings text[], OUT places text[]
) LANGUAGE plpgsql STABLE SET search_path = longtail, pg_temp
AS $$
BEGIN
    SELECT found.home, array_remove(ARRAY['tenant', 'agent:' || found.home_agent, 'user:' || found.home_user], NULL)
    INTO home, bindings
    FROM longtail.find_home(in_session, named_namespace, of_user, of_key, of_agent) AS found;
    places := ARRAY[home, 'global'] || ARRAY(SELECT 'authored:' || binding FROM unnest(bindings) AS binding);
END
$$;

-- All that an assembly must know before it has the query's vector, in one answer: whose session it is, the rules, the
-- newest turns, what still waits, and how much there is to search.
DROP FUNCTION IF EXISTS longtail.read_context(
    uuid, text, text, text, text, bigint, integer, text[], integer, integer, regclass);
DROP FUNCTION IF EXISTS longtail.read_context(uuid, text, text, text, text, bigint, integer, regclass);
CREATE OR REPLACE FUNCTION longtail.read_context(
    of_tenant uuid, in_session text, named_namespace text, of_user text, of_key text, of_agent text, tail_chars bigint,
    tail_turns integer, vectors regclass
) RETURNS json
LANGUAGE plpgsql STABLE SET search_path = longtail, pg_temp
AS $$
DECLARE
    home text;
    bindings text[];
    places text[];
BEGIN
    SELECT found.home, found.bindings, found.places INTO home, bindings, places
    FROM longtail.find_places(in_session, named_namespace, of_user, of_key, of_agent) AS found;
    RETURN json_build_object(
        'namespace', home,
        'bindings', bindings,
        'places', places,
        'rules', (
            SELECT json_agg(json_build_array(nodes.id, nodes.tier, nodes.kind, nodes.body, nodes.heading_path, documents.name,
                                             documents.binding)
                            ORDER BY array_position(bindings, documents.binding), documents.name, nodes.position)
            FROM documents JOIN document_nodes AS nodes ON nodes.document_id = documents.id
            WHERE documents.tenant_id = of_tenant AND documents.binding = ANY(bindings) AND nodes.tier > 0),
        'turns', (
            SELECT json_agg(json_build_array(id, session_id, position, seq, namespace, role, content, ts, name,
                                             host_message_id, metadata) ORDER BY position)
            FROM (SELECT *, sum(char_length(content)) OVER (ORDER BY position DESC) AS chars
                  FROM (SELECT * FROM turns WHERE tenant_id = of_tenant AND session_id = in_session
                        ORDER BY position DESC LIMIT tail_turns) AS newest) AS counted
            WHERE chars - char_length(content) <= tail_chars),
        'waiting', (
            SELECT json_build_array(
                count(*), coalesce(extract(epoch FROM clock_timestamp() - min(accepted_at)), 0)::float8)
            FROM work WHERE tenant_id = of_tenant AND namespace = home AND stage IN ('accepted', 'ingested', 'embedded')),
        'asked', (
            SELECT coalesce(sum(item_count), 0) FROM namespaces WHERE tenant_id = of_tenant AND namespace = ANY(places)),
        'everybody', (SELECT reltuples FROM pg_class WHERE oid = vectors));
END
$$;
