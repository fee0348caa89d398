-- Keys by themselves: the heading of an entry also holds its category and tags, which a search in keys must not see.
-- No compat: a program that does not know this index would leave keys out of it.
CREATE VIRTUAL TABLE key_text USING fts5 (
    key, content = '', tokenize = 'porter unicode61 remove_diacritics 2'
);
