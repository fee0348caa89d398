-- compat: 6
-- Words that are not yet sorted into an index are read whole by every search for any word. The default are 4 MB of them.
ALTER INDEX entry_text_words SET (gin_pending_list_limit = 64);
ALTER INDEX key_text_words SET (gin_pending_list_limit = 64);
SELECT gin_clean_pending_list('entry_text_words'), gin_clean_pending_list('key_text_words');
