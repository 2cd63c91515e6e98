-- A spoken rule stands unless a newer statement replaces it. `supersessions` is the decision; `guidance.superseded_by` follows
-- it here, so that a rule stands again when what replaced it is forgotten, corrected or erased.
CREATE OR REPLACE FUNCTION longtail.follow_supersession() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = longtail, pg_temp
AS $$
DECLARE
    turn uuid := CASE TG_OP WHEN 'DELETE' THEN OLD.older_turn_id ELSE NEW.older_turn_id END;
BEGIN
    UPDATE guidance SET superseded_by = (
        SELECT newer.id FROM supersessions JOIN guidance AS newer ON newer.turn_id = supersessions.newer_turn_id
        WHERE supersessions.older_turn_id = turn ORDER BY supersessions.changed_at DESC LIMIT 1)
    WHERE guidance.turn_id = turn;
    RETURN NULL;
END
$$;
CREATE OR REPLACE TRIGGER rules_follow_supersessions AFTER INSERT OR DELETE ON longtail.supersessions
FOR EACH ROW EXECUTE FUNCTION longtail.follow_supersession();
