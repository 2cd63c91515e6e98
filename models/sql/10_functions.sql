-- Functions that service roles call. SECURITY DEFINER ones run as the owner, whom row security does not bind:
-- each does one narrow thing and pins its search_path.

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

-- Takes up to `batch` rows that wait at `at_stage`, oldest first, and hides them for the length of a lease.
-- SKIP LOCKED: two drains must take different rows. The lease outlives the transaction, so that the work
-- itself is done outside of one; a worker that dies simply lets it run out.
-- Rows that were tried before come alone, after the fresh ones: whatever kills a worker harms no neighbour.
CREATE OR REPLACE FUNCTION longtail.claim_work(at_stage text, batch integer, lease interval)
RETURNS TABLE (item_id uuid, tenant_id uuid, kind text, namespace text, seq bigint, attempts smallint)
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = longtail, pg_temp
AS $$
    WITH fresh AS (
        SELECT waiting.item_id FROM work AS waiting
        WHERE waiting.stage = at_stage AND waiting.stage IN ('accepted', 'ingested', 'embedded')
          AND waiting.attempts = 0 AND waiting.not_before <= clock_timestamp()
        ORDER BY waiting.seq LIMIT batch FOR UPDATE SKIP LOCKED
    ), tried AS (
        SELECT waiting.item_id FROM work AS waiting
        WHERE waiting.stage = at_stage AND waiting.stage IN ('accepted', 'ingested', 'embedded')
          AND waiting.attempts > 0 AND waiting.not_before <= clock_timestamp()
          AND NOT EXISTS (SELECT FROM fresh)
        ORDER BY waiting.not_before, waiting.seq LIMIT 1 FOR UPDATE SKIP LOCKED
    )
    UPDATE work SET not_before = clock_timestamp() + lease, attempts = work.attempts + 1,
                    updated_at = clock_timestamp()
    FROM (SELECT fresh.item_id FROM fresh UNION ALL SELECT tried.item_id FROM tried) AS taken
    WHERE work.item_id = taken.item_id
    RETURNING work.item_id, work.tenant_id, work.kind, work.namespace, work.seq, work.attempts
$$;

-- How much waits at each stage and is free to be taken now: what the sweep rings bells for.
CREATE OR REPLACE FUNCTION longtail.ready_work()
RETURNS TABLE (stage text, ready bigint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = longtail, pg_temp
AS $$
    SELECT work.stage, count(*) FROM work
    WHERE work.stage IN ('accepted', 'ingested', 'embedded') AND work.not_before <= clock_timestamp()
    GROUP BY work.stage
$$;

-- Accept, in one round trip: opens the session, appends the turns once each, queues the work on them. Called outside
-- of a transaction it is one, so a caller waits for one answer and one commit. Row security holds inside it: it
-- names the tenant and runs as the caller. A key left NULL is made from the place a turn gets.
CREATE OR REPLACE FUNCTION longtail.accept_turns(
    of_tenant uuid, in_session text, named_namespace text, is_named boolean, of_user text, of_key text, of_agent text,
    roles text[], contents text[], names text[], host_ids text[], keys text[], digests bytea[], moments timestamptz[],
    extras text[]
) RETURNS TABLE (place integer, turn_id uuid, is_new boolean, content_differs boolean, namespace text, waiting bigint)
LANGUAGE plpgsql VOLATILE SET search_path = longtail, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    first_position bigint;
    home text;
    before bigint;
    new_ids uuid[];
    new_keys text[];
BEGIN
    PERFORM set_config('longtail.tenant_id', of_tenant::text, true);
    -- The row lock this takes orders every call of one session, so positions never race.
    INSERT INTO sessions AS known
        (tenant_id, session_id, namespace, user_id, session_key, agent_id, next_position, last_turn_at)
    VALUES (of_tenant, in_session, named_namespace, of_user, of_key, of_agent, cardinality(roles), now())
    ON CONFLICT (tenant_id, session_id) DO UPDATE SET
        next_position = known.next_position + cardinality(roles),
        last_turn_at = now(),
        namespace = CASE WHEN is_named THEN excluded.namespace ELSE known.namespace END,
        user_id = coalesce(excluded.user_id, known.user_id),
        session_key = coalesce(excluded.session_key, known.session_key),
        agent_id = coalesce(excluded.agent_id, known.agent_id)
    RETURNING known.next_position - cardinality(roles), known.namespace INTO first_position, home;
    keys := ARRAY(
        SELECT coalesce(key, format('position:%s:%s', first_position + ordinal - 1, left(encode(digest, 'hex'), 16)))
        FROM unnest(keys, digests) WITH ORDINALITY AS given (key, digest, ordinal) ORDER BY ordinal);
    SELECT count(*) INTO before FROM work
    WHERE tenant_id = of_tenant AND namespace = home AND stage IN ('accepted', 'ingested', 'embedded');
    WITH appended AS (
        INSERT INTO turns (tenant_id, session_id, position, namespace, role, content, name, host_message_id,
                           dedup_key, content_sha256, ts, metadata)
        SELECT of_tenant, in_session, first_position + ordinal - 1, home, role, content, name, host_id, key, digest, ts,
               extra::jsonb
        FROM unnest(roles, contents, names, host_ids, keys, digests, moments, extras) WITH ORDINALITY
             AS given (role, content, name, host_id, key, digest, ts, extra, ordinal)
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
    SELECT (ordinal - 1)::integer, coalesce(fresh.id, known.id),
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
-- `erase_namespace` names is let go, and only by DELETE.
CREATE OR REPLACE FUNCTION longtail.refuse_change() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' AND current_setting('longtail.erasing', true) = OLD.tenant_id || ':' || OLD.namespace THEN
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

-- A term as it is compared: words by their stem, everything else (names, numbers, other scripts) as it is.
-- NULL for a word so common that it says nothing.
CREATE OR REPLACE FUNCTION longtail.stem(term text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN term ~ '^[a-z]+$' THEN (ts_lexize('pg_catalog.english_stem', term))[1] ELSE term END;

-- Adds rows to the search index, once each: the items, their postings, and the counts that BM25 needs.
-- A posting's impact is tf·(k1 + 1)/(tf + k1·(1 − b + b·words/average)), k1 = 0.9, b = 0.4: what is left of BM25
-- when the rarity of the term is taken out. The average is the namespace's at that moment, held to a first guess
-- of 24 words until 64 items are there. Rows are written in the order of their keys, so that two writers never
-- wait for each other in a circle.
CREATE OR REPLACE FUNCTION longtail.index_items(given jsonb) RETURNS integer
LANGUAGE plpgsql VOLATILE SET search_path = longtail, public, pg_temp
AS $$
DECLARE
    caller uuid := longtail.current_tenant();
    added uuid[];
BEGIN
    -- Nobody erases these namespaces meanwhile, and what was erased or forgotten before does not come back.
    PERFORM pg_advisory_xact_lock_shared(hashtextextended('index:' || caller || ':' || place.namespace, 0))
    FROM (SELECT DISTINCT offered.namespace FROM jsonb_to_recordset(given) AS offered (namespace text) ORDER BY 1) AS place;
    WITH offered AS (
        SELECT * FROM jsonb_to_recordset(given) AS offered (
            id uuid, kind text, namespace text, session_id text, role text, name text, body text, ts timestamptz,
            token_estimate integer, provenance_class text, stability_weight float8, authority float8,
            anchor_density float8, modalities text[], identifiers text[], source_turn_ids uuid[], words jsonb)
    ), inserted AS (
        INSERT INTO items (id, tenant_id, kind, namespace, session_id, role, name, body, ts, token_estimate,
                           provenance_class, stability_weight, authority, anchor_density, modalities, identifiers,
                           source_turn_ids, terms, word_count)
        SELECT offered.id, caller, offered.kind, offered.namespace, offered.session_id, offered.role, offered.name,
               offered.body, offered.ts, offered.token_estimate, offered.provenance_class,
               offered.stability_weight, offered.authority, offered.anchor_density, offered.modalities,
               offered.identifiers, offered.source_turn_ids, counted.terms, counted.total
        FROM offered CROSS JOIN LATERAL (
            SELECT coalesce(array_agg(DISTINCT stem), '{}') AS terms, coalesce(sum(count), 0) AS total
            FROM (SELECT longtail.stem(key) AS stem, value::integer AS count FROM jsonb_each_text(offered.words)) AS word
            WHERE stem IS NOT NULL
        ) AS counted
        WHERE NOT EXISTS (SELECT FROM forgotten WHERE forgotten.item_id = offered.id)
          AND (offered.kind <> 'turn' OR EXISTS (SELECT FROM turns WHERE turns.id = offered.id))
        ON CONFLICT (id) DO NOTHING
        RETURNING id
    )
    SELECT coalesce(array_agg(id), '{}') INTO added FROM inserted;

    INSERT INTO namespaces AS known (tenant_id, namespace, item_count, word_count)
    SELECT caller, items.namespace, count(*), sum(items.word_count) FROM items WHERE items.id = ANY(added)
    GROUP BY items.namespace ORDER BY items.namespace
    ON CONFLICT (tenant_id, namespace) DO UPDATE
    SET item_count = known.item_count + excluded.item_count, word_count = known.word_count + excluded.word_count;

    WITH counted AS (
        SELECT namespaces.id AS namespace_id, offered.id AS item_id, stem AS term, sum(count)::real AS tf,
               1 - 0.4 + 0.4 * items.word_count
                   / ((namespaces.word_count + 24 * 64)::real / (namespaces.item_count + 64)) AS length
        FROM jsonb_to_recordset(given) AS offered (id uuid, words jsonb)
        JOIN items ON items.id = offered.id JOIN namespaces USING (tenant_id, namespace)
        CROSS JOIN LATERAL (
            SELECT longtail.stem(key) AS stem, value::integer AS count FROM jsonb_each_text(offered.words)
        ) AS word
        WHERE offered.id = ANY(added) AND stem IS NOT NULL
        GROUP BY namespaces.id, offered.id, stem, items.word_count
    ), kept AS (
        INSERT INTO postings (namespace_id, term, impact, item_id, tenant_id)
        SELECT namespace_id, term, tf * 1.9 / (tf + 0.9 * length), item_id, caller FROM counted
    )
    INSERT INTO lexicon AS known (namespace_id, term, tenant_id, item_count)
    SELECT namespace_id, term, caller, count(*) FROM counted GROUP BY namespace_id, term ORDER BY namespace_id, term
    ON CONFLICT (namespace_id, term) DO UPDATE SET item_count = known.item_count + excluded.item_count;
    RETURN cardinality(added);
END
$$;

-- What left the index leaves its counts too. Rows are locked as `index_items` locks them, namespaces first and by name,
-- then terms by their key: two writers never wait for each other in a circle.
CREATE OR REPLACE FUNCTION longtail.forget_words() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = longtail, pg_temp
AS $$
BEGIN
    PERFORM FROM namespaces
    WHERE (namespaces.tenant_id, namespaces.namespace) IN (SELECT tenant_id, namespace FROM gone)
    ORDER BY namespaces.namespace FOR UPDATE;
    UPDATE namespaces SET item_count = namespaces.item_count - lost.items, word_count = namespaces.word_count - lost.words
    FROM (SELECT tenant_id, namespace, count(*) AS items, sum(word_count) AS words FROM gone GROUP BY 1, 2) AS lost
    WHERE namespaces.tenant_id = lost.tenant_id AND namespaces.namespace = lost.namespace;
    DELETE FROM postings USING gone JOIN namespaces USING (tenant_id, namespace)
    WHERE postings.namespace_id = namespaces.id AND postings.term = ANY(gone.terms) AND postings.item_id = gone.id;
    PERFORM FROM lexicon
    WHERE (lexicon.namespace_id, lexicon.term) IN (
        SELECT namespaces.id, term FROM gone JOIN namespaces USING (tenant_id, namespace), unnest(terms) AS term)
    ORDER BY lexicon.namespace_id, lexicon.term FOR UPDATE;
    UPDATE lexicon SET item_count = lexicon.item_count - lost.count
    FROM (SELECT namespaces.id, term, count(*) FROM gone JOIN namespaces USING (tenant_id, namespace), unnest(terms) AS term
          GROUP BY namespaces.id, term) AS lost
    WHERE lexicon.namespace_id = lost.id AND lexicon.term = lost.term;
    RETURN NULL;
END
$$;
CREATE OR REPLACE TRIGGER items_leave_their_words
AFTER DELETE ON longtail.items REFERENCING OLD TABLE AS gone
FOR EACH STATEMENT EXECUTE FUNCTION longtail.forget_words();

-- The lexical leg of recall, for the caller's own tenant: BM25 over the postings of the query's terms. Of a term in
-- more than `most_postings` items, only those it says most about are read, so the cost has a bound in any namespace.
-- A definer function: row security would make it read each posting's row beside the index.
DROP FUNCTION IF EXISTS longtail.find_by_words(text, text[], text[], integer, integer);
DROP FUNCTION IF EXISTS longtail.query_words(text, integer);
CREATE OR REPLACE FUNCTION longtail.find_by_words(
    query_terms text[], in_namespaces text[], most integer, most_postings integer
) RETURNS TABLE (item_id uuid, weight float8)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = longtail, pg_temp
AS $$
    WITH asked AS MATERIALIZED (
        SELECT DISTINCT longtail.stem(given) AS term FROM unnest(query_terms) AS given
    ), places AS MATERIALIZED (
        SELECT id, item_count FROM namespaces
        WHERE tenant_id = longtail.current_tenant() AND namespace = ANY(in_namespaces)
    ), known AS MATERIALIZED (
        SELECT lexicon.namespace_id, lexicon.term, sum(lexicon.item_count) OVER (PARTITION BY lexicon.term)::float8 AS holding
        FROM places CROSS JOIN asked JOIN lexicon ON lexicon.namespace_id = places.id AND lexicon.term = asked.term
    ), weighed AS MATERIALIZED (  -- idf = ln(1 + (N − n + ½)/(n + ½)), once a term and not once a posting
        SELECT namespace_id, term, ln(1 + (greatest(size.items - holding, 0) + 0.5) / (holding + 0.5)) AS rarity
        FROM known CROSS JOIN (SELECT sum(item_count)::float8 AS items FROM places) AS size
    )
    SELECT found.item_id, sum(found.impact * weighed.rarity)
    FROM weighed CROSS JOIN LATERAL (
        SELECT postings.item_id, postings.impact FROM postings
        WHERE postings.namespace_id = weighed.namespace_id AND postings.term = weighed.term
        ORDER BY postings.impact DESC LIMIT most_postings
    ) AS found
    GROUP BY found.item_id ORDER BY 2 DESC, found.item_id LIMIT most
$$;

-- Where a call reads: whose memory it is, whose documents apply, and every namespace that recall may search.
CREATE OR REPLACE FUNCTION longtail.find_places(
    of_tenant uuid, in_session text, named_namespace text, of_user text, of_agent text,
    OUT home text, OUT bindings text[], OUT places text[]
) LANGUAGE plpgsql STABLE SET search_path = longtail, pg_temp
AS $$
DECLARE
    known longtail.sessions;
BEGIN
    SELECT * INTO known FROM sessions WHERE tenant_id = of_tenant AND session_id = in_session;
    home := coalesce(named_namespace, known.namespace, 'session:' || in_session);
    bindings := array_remove(
        ARRAY['tenant', 'agent:' || coalesce(of_agent, known.agent_id), 'user:' || coalesce(of_user, known.user_id)], NULL);
    places := ARRAY[home, 'global'] || ARRAY(SELECT 'authored:' || binding FROM unnest(bindings) AS binding);
END
$$;

-- All that an assembly must know before it has the query's vector, in one answer: whose session it is, the rules, the
-- newest turns, what still waits, and how much there is to search.
DROP FUNCTION IF EXISTS longtail.read_context(
    uuid, text, text, text, text, bigint, integer, text[], integer, integer, regclass);
CREATE OR REPLACE FUNCTION longtail.read_context(
    of_tenant uuid, in_session text, named_namespace text, of_user text, of_agent text, tail_chars bigint,
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
    FROM longtail.find_places(of_tenant, in_session, named_namespace, of_user, of_agent) AS found;
    RETURN json_build_object(
        'namespace', home,
        'bindings', bindings,
        'places', places,
        'rules', (
            SELECT json_agg(json_build_array(nodes.id, nodes.tier, nodes.body, nodes.heading_path)
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
