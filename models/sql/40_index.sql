-- The search index: terms, postings, and the words of a query.

-- A term as it is compared: words by their stem, everything else (names, numbers, other scripts) as it is.
-- NULL for a word so common that it says nothing.
CREATE OR REPLACE FUNCTION longtail.stem(term text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN term ~ '^[a-z]+$' THEN (ts_lexize('pg_catalog.english_stem', term))[1] ELSE term END;

-- How often the item of a turn was called useful, less how often useless; never below 0.
CREATE OR REPLACE FUNCTION longtail.count_useful(turn uuid) RETURNS integer
LANGUAGE sql STABLE SET search_path = longtail, public, pg_temp
RETURN (SELECT greatest(0, coalesce(sum(CASE WHEN is_useful THEN 1 ELSE -1 END), 0))::integer
        FROM longtail.feedback WHERE feedback.tenant_id = longtail.current_tenant() AND feedback.turn_id = turn);

-- Adds rows to the search index, once each: the items, their postings, and the counts that BM25 needs.
-- A posting's impact is tf·(k1 + 1)/(tf + k1·(1 − b + b·words/average)), k1 = 0.9, b = 0.4: what is left of BM25
-- when the rarity of the term is taken out. The average is the namespace's at that moment, held to a first guess
-- of 24 words until 64 items are there. Rows are written in the order of their keys, so that two writers never
-- deadlock.
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
                           source_turn_ids, terms, word_count, useful_count)
        SELECT offered.id, caller, offered.kind, offered.namespace, offered.session_id, offered.role, offered.name,
               offered.body, offered.ts, offered.token_estimate, offered.provenance_class,
               offered.stability_weight, offered.authority, offered.anchor_density, offered.modalities,
               offered.identifiers, offered.source_turn_ids, counted.terms, counted.total,
               longtail.count_useful(offered.id)
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
-- then terms by their key: two writers never deadlock.
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
          AND (longtail.opens_all() OR namespace = ANY(longtail.readable()))
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
