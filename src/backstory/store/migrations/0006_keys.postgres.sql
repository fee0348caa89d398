-- Keys by themselves: the heading of an entry also holds its category and tags, which a search in keys must not see.
-- No compat: a program that does not know this index would leave keys out of it.
CREATE TABLE key_text (
    entry BIGINT PRIMARY KEY REFERENCES entry (n) ON DELETE CASCADE,
    words tsvector NOT NULL
);
CREATE INDEX key_text_words ON key_text USING gin (words);
