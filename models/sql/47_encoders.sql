-- Encoders beside each other (decision 46): what the table of one still lacks, and the moment in which it takes over.

-- Items of every tenant, in order of their ids, that the active encoder has vectors of and this one has not. With them a
-- worker gets the passes of their tenants, as it does with rows that wait.
CREATE OR REPLACE FUNCTION longtail.find_unfilled(of_encoder text, behind uuid, most integer)
RETURNS TABLE (item_id uuid, tenant_id uuid, pass uuid)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = longtail, pg_temp
AS $$
DECLARE
    from_table text;
    into_table text;
BEGIN
    PERFORM set_config('longtail.across', 'on', true);  -- every tenant's rows, see 80_row_security.sql
    SELECT encoders.table_name INTO from_table FROM encoders WHERE is_active;
    SELECT encoders.table_name INTO into_table FROM encoders WHERE name = of_encoder AND NOT is_active AND duty IS NOT NULL;
    IF from_table IS NULL OR into_table IS NULL THEN
        RETURN;
    END IF;
    RETURN QUERY EXECUTE format(
        'SELECT missing.item_id, missing.tenant_id, passes.secret FROM ('
        ' SELECT had.item_id, had.tenant_id FROM longtail.%I AS had'
        ' WHERE had.window_no = 0 AND had.item_id > $1'
        ' AND NOT EXISTS (SELECT FROM longtail.%I AS has WHERE has.item_id = had.item_id)'
        ' ORDER BY had.item_id LIMIT $2) AS missing'
        ' JOIN longtail.passes ON passes.tenant = missing.tenant_id ORDER BY missing.item_id', from_table, into_table)
    USING behind, most;
END
$$;

-- The active encoder is another one from here on, if that has a vector of everything the active one has. Nobody writes
-- vectors meanwhile (`guard_encoder` shares the lock). The one before stays as standby; one that was standby is let go.
CREATE OR REPLACE FUNCTION longtail.take_over(by_encoder text) RETURNS boolean
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = longtail, pg_temp
AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(1162756943);  -- SWITCH_LOCK in models/store/index/encoders.py
    IF NOT EXISTS (SELECT FROM encoders WHERE name = by_encoder AND NOT is_active AND duty IS NOT NULL)
       OR EXISTS (SELECT FROM longtail.find_unfilled(by_encoder, '00000000-0000-0000-0000-000000000000', 1)) THEN
        RETURN false;
    END IF;
    UPDATE encoders SET is_active = false, duty = CASE WHEN is_active THEN 'standby' END
    WHERE name <> by_encoder AND (is_active OR duty = 'standby');
    UPDATE encoders SET is_active = true, duty = NULL, filled_to = NULL, leased_until = NULL, problem = NULL,
                        served_from = clock_timestamp()
    WHERE name = by_encoder;
    RETURN true;
END
$$;
