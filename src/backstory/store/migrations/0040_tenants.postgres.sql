-- All tenants of a database share the tables of one schema. Programs from before use a schema for each tenant, which this one
-- empties: only programs that know this script may write from now on.
-- The words of the text index begin with the tenant of the transaction: what another tenant wrote is never among the words that
-- are looked for, and the posting lists of one tenant are short, however many others use a word.
CREATE OR REPLACE FUNCTION words_vector(words text[]) RETURNS tsvector LANGUAGE sql STABLE AS $$
    SELECT coalesce(string_agg(format('''%s/%s'':%s', current_setting('backstory.tenant')::integer,
        coalesce((ts_lexize('stem', word))[1], word), place), ' '), '')::tsvector
    FROM unnest(words) WITH ORDINALITY AS each_one (word, place)
$$;
CREATE OR REPLACE FUNCTION unit_query(words text[], is_prefix boolean) RETURNS tsquery LANGUAGE sql STABLE AS $$
    SELECT (string_agg(format('''%s/%s''', current_setting('backstory.tenant')::integer,
        coalesce((ts_lexize('stem', word))[1], word)), ' <-> ' ORDER BY place)
        || CASE WHEN is_prefix THEN ':*' ELSE '' END)::tsquery
    FROM unnest(words) WITH ORDINALITY AS each_one (word, place)
$$;
-- The words of a store that had a schema of its own.
CREATE FUNCTION words_of_tenant(words tsvector) RETURNS tsvector LANGUAGE sql STABLE AS $$
    SELECT coalesce(string_agg(format('''%s/%s'':%s', current_setting('backstory.tenant')::integer, lexeme,
        array_to_string(positions, ',')), ' '), '')::tsvector FROM unnest(words)
$$;
CREATE OR REPLACE FUNCTION keep_shape() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO shape (tenant_number, n, is_quiet, is_memory, size)
    VALUES (
        new.tenant_number, new.n, (new.role IN ('system', 'thinking', 'tool'))::integer, (new.kind = 'memory')::integer,
        length(new.text)
    )
    ON CONFLICT (tenant_number, n) DO UPDATE SET is_quiet = excluded.is_quiet, size = excluded.size;
    RETURN NULL;
END $$;
