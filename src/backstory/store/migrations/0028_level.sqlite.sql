-- No compat: earlier programs name turns of some histories by their place in a file, and would double and delete what is kept.
-- One that is running looks at the level only when it starts. It does not have the function known_level either, so whatever it
-- would keep of a history fails as a whole.
CREATE TRIGGER conversation_level BEFORE INSERT ON conversation
WHEN known_level() < (SELECT max(compat) FROM migration)
BEGIN
    SELECT RAISE(ABORT, 'a newer Backstory uses this store');
END;
CREATE TRIGGER source_level BEFORE INSERT ON source
WHEN known_level() < (SELECT max(compat) FROM migration)
BEGIN
    SELECT RAISE(ABORT, 'a newer Backstory uses this store');
END;
CREATE TRIGGER source_change_level BEFORE UPDATE ON source
WHEN known_level() < (SELECT max(compat) FROM migration)
BEGIN
    SELECT RAISE(ABORT, 'a newer Backstory uses this store');
END;
