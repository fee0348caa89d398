-- No compat: earlier programs name turns of some histories by their place in a file, and would double and delete what is kept.
-- One that is running looks at the level only when it starts. It does not set backstory.level either, so whatever it would keep
-- of a history fails as a whole.
CREATE FUNCTION check_level() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF coalesce(nullif(current_setting('backstory.level', true), '')::integer, 0) < (SELECT max(compat) FROM migration) THEN
        RAISE EXCEPTION 'a newer Backstory uses this store';
    END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER conversation_level BEFORE INSERT ON conversation FOR EACH STATEMENT EXECUTE FUNCTION check_level();
CREATE TRIGGER source_level BEFORE INSERT OR UPDATE ON source FOR EACH STATEMENT EXECUTE FUNCTION check_level();
