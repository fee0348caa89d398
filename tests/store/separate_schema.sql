--
-- PostgreSQL database dump
--

-- Dumped from database version 18.6
-- Dumped by pg_dump version 18.6

SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET transaction_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

--
-- Name: user-ann; Type: SCHEMA; Schema: -; Owner: -
--

CREATE SCHEMA "user-ann";

--
-- Name: check_level(); Type: FUNCTION; Schema: user-ann; Owner: -
--

CREATE FUNCTION "user-ann".check_level() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF coalesce(nullif(current_setting('backstory.level', true), '')::integer, 0) < (SELECT max(compat) FROM migration) THEN
        RAISE EXCEPTION 'a newer Backstory uses this store';
    END IF;
    RETURN NULL;
END
$$;

--
-- Name: keep_shape(); Type: FUNCTION; Schema: user-ann; Owner: -
--

CREATE FUNCTION "user-ann".keep_shape() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    INSERT INTO shape (n, is_quiet, is_memory, size)
    VALUES (
        new.n, (new.role IN ('system', 'thinking', 'tool'))::integer, (new.kind = 'memory')::integer, length(new.text)
    )
    ON CONFLICT (n) DO UPDATE SET is_quiet = excluded.is_quiet, size = excluded.size;
    RETURN NULL;
END $$;

--
-- Name: unit_query(text[], boolean); Type: FUNCTION; Schema: user-ann; Owner: -
--

CREATE FUNCTION "user-ann".unit_query(words text[], is_prefix boolean) RETURNS tsquery
    LANGUAGE sql IMMUTABLE
    AS $$
    SELECT (string_agg(format('''%s''', coalesce((ts_lexize('stem', word))[1], word)), ' <-> ' ORDER BY place)
        || CASE WHEN is_prefix THEN ':*' ELSE '' END)::tsquery
    FROM unnest(words) WITH ORDINALITY AS each_one (word, place)
$$;

--
-- Name: words_vector(text[]); Type: FUNCTION; Schema: user-ann; Owner: -
--

CREATE FUNCTION "user-ann".words_vector(words text[]) RETURNS tsvector
    LANGUAGE sql IMMUTABLE
    AS $$
    SELECT coalesce(string_agg(format('''%s'':%s', coalesce((ts_lexize('stem', word))[1], word), place), ' '), '')::tsvector
    FROM unnest(words) WITH ORDINALITY AS each_one (word, place)
$$;

--
-- Name: stem; Type: TEXT SEARCH DICTIONARY; Schema: user-ann; Owner: -
--

CREATE TEXT SEARCH DICTIONARY "user-ann".stem (
    TEMPLATE = pg_catalog.snowball,
    language = 'english' );

SET default_tablespace = '';

SET default_table_access_method = heap;

--
-- Name: archive_pack; Type: TABLE; Schema: user-ann; Owner: -
--

CREATE TABLE "user-ann".archive_pack (
    n bigint NOT NULL,
    thread text COLLATE pg_catalog."C",
    project text NOT NULL COLLATE pg_catalog."C",
    surface text NOT NULL COLLATE pg_catalog."C",
    packed bytea NOT NULL
);

--
-- Name: archived; Type: TABLE; Schema: user-ann; Owner: -
--

CREATE TABLE "user-ann".archived (
    id text NOT NULL COLLATE pg_catalog."C",
    pack bigint NOT NULL,
    key text COLLATE pg_catalog."C",
    private integer NOT NULL,
    category text COLLATE pg_catalog."C",
    priority text COLLATE pg_catalog."C",
    channel text COLLATE pg_catalog."C",
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    forgotten_at bigint
);

--
-- Name: archived_conversation; Type: TABLE; Schema: user-ann; Owner: -
--

CREATE TABLE "user-ann".archived_conversation (
    id text NOT NULL COLLATE pg_catalog."C",
    title text NOT NULL COLLATE pg_catalog."C",
    project text NOT NULL COLLATE pg_catalog."C",
    surface text NOT NULL COLLATE pg_catalog."C",
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    kind text NOT NULL COLLATE pg_catalog."C",
    parent text COLLATE pg_catalog."C",
    native_id text NOT NULL COLLATE pg_catalog."C",
    source text NOT NULL COLLATE pg_catalog."C",
    directory text NOT NULL COLLATE pg_catalog."C",
    branch text NOT NULL COLLATE pg_catalog."C",
    model text NOT NULL COLLATE pg_catalog."C",
    completeness text NOT NULL COLLATE pg_catalog."C",
    standing integer NOT NULL,
    subject text NOT NULL COLLATE pg_catalog."C",
    is_gone integer NOT NULL,
    said bigint NOT NULL,
    packed bytea NOT NULL,
    trust text DEFAULT 'own'::text NOT NULL COLLATE pg_catalog."C",
    rules integer DEFAULT 0 NOT NULL,
    run_rules integer DEFAULT 0 NOT NULL
);

--
-- Name: audited; Type: TABLE; Schema: user-ann; Owner: -
--

CREATE TABLE "user-ann".audited (
    id text NOT NULL COLLATE pg_catalog."C",
    at bigint NOT NULL,
    person text NOT NULL COLLATE pg_catalog."C",
    credential text NOT NULL COLLATE pg_catalog."C",
    space text NOT NULL COLLATE pg_catalog."C",
    tool text NOT NULL COLLATE pg_catalog."C",
    outcome text NOT NULL COLLATE pg_catalog."C"
);

--
-- Name: brought_back; Type: TABLE; Schema: user-ann; Owner: -
--

CREATE TABLE "user-ann".brought_back (
    id text NOT NULL COLLATE pg_catalog."C",
    at bigint NOT NULL
);

--
-- Name: cached_file; Type: TABLE; Schema: user-ann; Owner: -
--

CREATE TABLE "user-ann".cached_file (
    id text NOT NULL COLLATE pg_catalog."C",
    session text NOT NULL COLLATE pg_catalog."C",
    path text NOT NULL COLLATE pg_catalog."C",
    hash text NOT NULL COLLATE pg_catalog."C",
    size bigint NOT NULL,
    metadata text NOT NULL COLLATE pg_catalog."C",
    cached_at bigint NOT NULL
);

--
-- Name: checkpoint; Type: TABLE; Schema: user-ann; Owner: -
--

CREATE TABLE "user-ann".checkpoint (
    n bigint NOT NULL,
    id text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    description text NOT NULL COLLATE pg_catalog."C",
    session text NOT NULL COLLATE pg_catalog."C",
    project text NOT NULL COLLATE pg_catalog."C",
    surface text NOT NULL COLLATE pg_catalog."C",
    root text NOT NULL COLLATE pg_catalog."C",
    items bigint NOT NULL,
    files bigint NOT NULL,
    git_branch text COLLATE pg_catalog."C",
    git_status text COLLATE pg_catalog."C",
    created_at bigint NOT NULL
);

--
-- Name: command_run; Type: TABLE; Schema: user-ann; Owner: -
--

CREATE TABLE "user-ann".command_run (
    entry bigint NOT NULL,
    place integer NOT NULL,
    thread text NOT NULL COLLATE pg_catalog."C",
    families text NOT NULL COLLATE pg_catalog."C",
    outcome text NOT NULL COLLATE pg_catalog."C",
    exit_code bigint
);

--
-- Name: connection; Type: TABLE; Schema: user-ann; Owner: -
--

CREATE TABLE "user-ann".connection (
    id text NOT NULL COLLATE pg_catalog."C",
    owner text NOT NULL COLLATE pg_catalog."C",
    project text NOT NULL COLLATE pg_catalog."C",
    directory text NOT NULL COLLATE pg_catalog."C",
    session text COLLATE pg_catalog."C",
    seen_at bigint NOT NULL,
    level text COLLATE pg_catalog."C"
);

--
-- Name: content; Type: TABLE; Schema: user-ann; Owner: -
--

CREATE TABLE "user-ann".content (
    hash text NOT NULL COLLATE pg_catalog."C",
    packed bytea NOT NULL
);

--
-- Name: conversation; Type: TABLE; Schema: user-ann; Owner: -
--

CREATE TABLE "user-ann".conversation (
    id text NOT NULL COLLATE pg_catalog."C",
    title text NOT NULL COLLATE pg_catalog."C",
    project text NOT NULL COLLATE pg_catalog."C",
    surface text NOT NULL COLLATE pg_catalog."C",
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    kind text DEFAULT 'main'::text NOT NULL COLLATE pg_catalog."C",
    parent text COLLATE pg_catalog."C",
    native_id text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    source text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    directory text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    branch text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    model text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    completeness text DEFAULT 'full'::text NOT NULL COLLATE pg_catalog."C",
    standing integer DEFAULT 2 NOT NULL,
    subject text DEFAULT 'general'::text NOT NULL COLLATE pg_catalog."C",
    is_gone integer DEFAULT 0 NOT NULL,
    trust text DEFAULT 'own'::text NOT NULL COLLATE pg_catalog."C",
    rules integer DEFAULT 0 NOT NULL,
    run_rules integer DEFAULT 0 NOT NULL
);

--
-- Name: dismissal; Type: TABLE; Schema: user-ann; Owner: -
--

CREATE TABLE "user-ann".dismissal (
    statement text NOT NULL COLLATE pg_catalog."C",
    dismissed_at bigint NOT NULL
);

--
-- Name: embedding; Type: TABLE; Schema: user-ann; Owner: -
--

CREATE TABLE "user-ann".embedding (
    v bigint NOT NULL,
    space integer NOT NULL,
    entry bigint NOT NULL,
    code public.halfvec NOT NULL,
    passage bigint
);

--
-- Name: embedding_v_seq; Type: SEQUENCE; Schema: user-ann; Owner: -
--

ALTER TABLE "user-ann".embedding ALTER COLUMN v ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME "user-ann".embedding_v_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

--
-- Name: entry; Type: TABLE; Schema: user-ann; Owner: -
--

CREATE TABLE "user-ann".entry (
    n bigint NOT NULL,
    id text NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL COLLATE pg_catalog."C",
    text text NOT NULL COLLATE pg_catalog."C",
    heading text NOT NULL COLLATE pg_catalog."C",
    thread text COLLATE pg_catalog."C",
    seq bigint NOT NULL,
    role text NOT NULL COLLATE pg_catalog."C",
    speaker text NOT NULL COLLATE pg_catalog."C",
    project text NOT NULL COLLATE pg_catalog."C",
    surface text NOT NULL COLLATE pg_catalog."C",
    private integer NOT NULL,
    revision integer DEFAULT 0 NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    summary text NOT NULL COLLATE pg_catalog."C",
    key text COLLATE pg_catalog."C",
    category text COLLATE pg_catalog."C",
    priority text COLLATE pg_catalog."C",
    channel text COLLATE pg_catalog."C",
    tags text COLLATE pg_catalog."C",
    metadata text COLLATE pg_catalog."C",
    trust text DEFAULT 'own'::text NOT NULL COLLATE pg_catalog."C",
    CONSTRAINT entry_kind_check CHECK ((kind = ANY (ARRAY['memory'::text, 'message'::text])))
);

--
-- Name: entry_n_seq; Type: SEQUENCE; Schema: user-ann; Owner: -
--

ALTER TABLE "user-ann".entry ALTER COLUMN n ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME "user-ann".entry_n_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

--
-- Name: entry_text; Type: TABLE; Schema: user-ann; Owner: -
--

CREATE TABLE "user-ann".entry_text (
    entry bigint NOT NULL,
    field text NOT NULL COLLATE pg_catalog."C",
    part integer NOT NULL,
    words tsvector NOT NULL
);

--
-- Name: event; Type: TABLE; Schema: user-ann; Owner: -
--

CREATE TABLE "user-ann".event (
    id text NOT NULL COLLATE pg_catalog."C",
    session text NOT NULL COLLATE pg_catalog."C",
    project text NOT NULL COLLATE pg_catalog."C",
    surface text NOT NULL COLLATE pg_catalog."C",
    tool text NOT NULL COLLATE pg_catalog."C",
    type text NOT NULL COLLATE pg_catalog."C",
    data text NOT NULL COLLATE pg_catalog."C",
    memory text COLLATE pg_catalog."C",
    created_at bigint NOT NULL
);

--
-- Name: forgotten; Type: TABLE; Schema: user-ann; Owner: -
--

CREATE TABLE "user-ann".forgotten (
    conversation text NOT NULL COLLATE pg_catalog."C",
    forgotten_at bigint NOT NULL
);

--
-- Name: former; Type: TABLE; Schema: user-ann; Owner: -
--

CREATE TABLE "user-ann".former (
    entry bigint NOT NULL,
    place integer NOT NULL,
    text text NOT NULL COLLATE pg_catalog."C",
    category text COLLATE pg_catalog."C",
    priority text COLLATE pg_catalog."C",
    channel text COLLATE pg_catalog."C",
    metadata text COLLATE pg_catalog."C",
    private integer NOT NULL,
    saved_at bigint NOT NULL
);

--
-- Name: graphed; Type: TABLE; Schema: user-ann; Owner: -
--

CREATE TABLE "user-ann".graphed (
    entry bigint NOT NULL,
    revision integer NOT NULL,
    extractor integer NOT NULL,
    entity bigint NOT NULL
);

--
-- Name: handoff; Type: TABLE; Schema: user-ann; Owner: -
--

CREATE TABLE "user-ann".handoff (
    conversation text NOT NULL COLLATE pg_catalog."C",
    source text NOT NULL COLLATE pg_catalog."C",
    handed_at bigint NOT NULL,
    paths text NOT NULL COLLATE pg_catalog."C"
);

--
-- Name: imported; Type: TABLE; Schema: user-ann; Owner: -
--

CREATE TABLE "user-ann".imported (
    id text NOT NULL COLLATE pg_catalog."C",
    importer text NOT NULL COLLATE pg_catalog."C",
    store text NOT NULL COLLATE pg_catalog."C",
    place text NOT NULL COLLATE pg_catalog."C",
    part text NOT NULL COLLATE pg_catalog."C",
    digest text NOT NULL COLLATE pg_catalog."C",
    imported_at bigint NOT NULL
);

--
-- Name: injection; Type: TABLE; Schema: user-ann; Owner: -
--

CREATE TABLE "user-ann".injection (
    session text NOT NULL COLLATE pg_catalog."C",
    given_at bigint NOT NULL,
    project text NOT NULL COLLATE pg_catalog."C",
    text text NOT NULL COLLATE pg_catalog."C",
    event text DEFAULT 'SessionStart'::text NOT NULL COLLATE pg_catalog."C",
    subject text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    certainty double precision,
    used integer
);

--
-- Name: kept_answer; Type: TABLE; Schema: user-ann; Owner: -
--

CREATE TABLE "user-ann".kept_answer (
    key text NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL COLLATE pg_catalog."C",
    owner text NOT NULL COLLATE pg_catalog."C",
    body text NOT NULL COLLATE pg_catalog."C",
    expires_at bigint NOT NULL
);

--
-- Name: key_set; Type: TABLE; Schema: user-ann; Owner: -
--

CREATE TABLE "user-ann".key_set (
    url text NOT NULL COLLATE pg_catalog."C",
    keys text NOT NULL COLLATE pg_catalog."C",
    fetched_at bigint NOT NULL
);

--
-- Name: key_text; Type: TABLE; Schema: user-ann; Owner: -
--

CREATE TABLE "user-ann".key_text (
    entry bigint NOT NULL,
    words tsvector NOT NULL
);

--
-- Name: lease; Type: TABLE; Schema: user-ann; Owner: -
--

CREATE TABLE "user-ann".lease (
    name text NOT NULL COLLATE pg_catalog."C",
    holder text NOT NULL COLLATE pg_catalog."C",
    leased_until bigint NOT NULL
);

--
-- Name: link; Type: TABLE; Schema: user-ann; Owner: -
--

CREATE TABLE "user-ann".link (
    id text NOT NULL COLLATE pg_catalog."C",
    source text NOT NULL COLLATE pg_catalog."C",
    target text NOT NULL COLLATE pg_catalog."C",
    relationship text NOT NULL COLLATE pg_catalog."C",
    metadata text NOT NULL COLLATE pg_catalog."C",
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL
);

--
-- Name: memory_change; Type: TABLE; Schema: user-ann; Owner: -
--

CREATE TABLE "user-ann".memory_change (
    sequence bigint NOT NULL,
    kind text NOT NULL COLLATE pg_catalog."C",
    memory text NOT NULL COLLATE pg_catalog."C",
    changed_at bigint NOT NULL,
    surface text COLLATE pg_catalog."C",
    session text COLLATE pg_catalog."C",
    key text COLLATE pg_catalog."C",
    category text COLLATE pg_catalog."C",
    priority text COLLATE pg_catalog."C",
    channel text COLLATE pg_catalog."C",
    private integer,
    is_erased integer,
    CONSTRAINT memory_change_kind_check CHECK ((kind = ANY (ARRAY['CREATE'::text, 'UPDATE'::text, 'DELETE'::text])))
);

--
-- Name: memory_file; Type: TABLE; Schema: user-ann; Owner: -
--

CREATE TABLE "user-ann".memory_file (
    path text NOT NULL COLLATE pg_catalog."C",
    program text NOT NULL COLLATE pg_catalog."C",
    root text NOT NULL COLLATE pg_catalog."C",
    project text NOT NULL COLLATE pg_catalog."C",
    size bigint NOT NULL,
    modified_ns bigint NOT NULL,
    problem text NOT NULL COLLATE pg_catalog."C",
    is_gone integer NOT NULL
);

--
-- Name: memory_origin; Type: TABLE; Schema: user-ann; Owner: -
--

CREATE TABLE "user-ann".memory_origin (
    path text NOT NULL COLLATE pg_catalog."C",
    anchor text NOT NULL COLLATE pg_catalog."C",
    program text NOT NULL COLLATE pg_catalog."C",
    memory text NOT NULL COLLATE pg_catalog."C",
    project text NOT NULL COLLATE pg_catalog."C",
    digest text NOT NULL COLLATE pg_catalog."C",
    is_gone integer NOT NULL
);

--
-- Name: mention; Type: TABLE; Schema: user-ann; Owner: -
--

CREATE TABLE "user-ann".mention (
    entry bigint NOT NULL,
    entity bigint NOT NULL,
    type text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    times integer NOT NULL
);

--
-- Name: migration; Type: TABLE; Schema: user-ann; Owner: -
--

CREATE TABLE "user-ann".migration (
    version integer NOT NULL,
    name text NOT NULL,
    compat integer NOT NULL,
    applied_at bigint NOT NULL
);

--
-- Name: relation; Type: TABLE; Schema: user-ann; Owner: -
--

CREATE TABLE "user-ann".relation (
    entry bigint NOT NULL,
    subject bigint NOT NULL,
    predicate text NOT NULL COLLATE pg_catalog."C",
    object bigint NOT NULL,
    confidence double precision NOT NULL
);

--
-- Name: removal; Type: TABLE; Schema: user-ann; Owner: -
--

CREATE TABLE "user-ann".removal (
    one integer NOT NULL,
    count bigint NOT NULL,
    CONSTRAINT removal_one_check CHECK ((one = 1))
);

--
-- Name: result; Type: TABLE; Schema: user-ann; Owner: -
--

CREATE TABLE "user-ann".result (
    entry bigint NOT NULL,
    place integer NOT NULL,
    native_id text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    arguments_at integer NOT NULL,
    arguments_length integer NOT NULL,
    command_at integer NOT NULL,
    command_length integer NOT NULL,
    is_error integer NOT NULL,
    exit_code bigint,
    duration_ms bigint,
    bytes bigint,
    is_cut integer NOT NULL,
    dictionary integer NOT NULL,
    packed bytea
);

--
-- Name: run_line; Type: TABLE; Schema: user-ann; Owner: -
--

CREATE TABLE "user-ann".run_line (
    entry bigint NOT NULL,
    place integer NOT NULL,
    number integer NOT NULL,
    signature bigint NOT NULL,
    loose bigint NOT NULL,
    text text NOT NULL COLLATE pg_catalog."C"
);

--
-- Name: saying; Type: TABLE; Schema: user-ann; Owner: -
--

CREATE TABLE "user-ann".saying (
    entry bigint NOT NULL,
    place integer NOT NULL,
    thread text NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL COLLATE pg_catalog."C",
    text text NOT NULL COLLATE pg_catalog."C",
    speaker text NOT NULL COLLATE pg_catalog."C",
    subject text NOT NULL COLLATE pg_catalog."C",
    outcome text NOT NULL COLLATE pg_catalog."C"
);

--
-- Name: session; Type: TABLE; Schema: user-ann; Owner: -
--

CREATE TABLE "user-ann".session (
    id text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    description text NOT NULL COLLATE pg_catalog."C",
    project text NOT NULL COLLATE pg_catalog."C",
    surface text NOT NULL COLLATE pg_catalog."C",
    channel text NOT NULL COLLATE pg_catalog."C",
    parent text COLLATE pg_catalog."C",
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL
);

--
-- Name: shape; Type: TABLE; Schema: user-ann; Owner: -
--

CREATE TABLE "user-ann".shape (
    n bigint NOT NULL,
    is_quiet integer NOT NULL,
    is_memory integer NOT NULL,
    size integer NOT NULL
);

--
-- Name: source; Type: TABLE; Schema: user-ann; Owner: -
--

CREATE TABLE "user-ann".source (
    path text NOT NULL COLLATE pg_catalog."C",
    reader text NOT NULL COLLATE pg_catalog."C",
    size bigint NOT NULL,
    modified_ns bigint NOT NULL,
    "position" bigint NOT NULL,
    head text NOT NULL COLLATE pg_catalog."C",
    tail text NOT NULL COLLATE pg_catalog."C",
    state text NOT NULL COLLATE pg_catalog."C",
    skipped text NOT NULL COLLATE pg_catalog."C",
    redacted bigint NOT NULL,
    problem text NOT NULL COLLATE pg_catalog."C",
    is_gone integer NOT NULL,
    read_at bigint NOT NULL
);

--
-- Name: space; Type: TABLE; Schema: user-ann; Owner: -
--

CREATE TABLE "user-ann".space (
    number integer NOT NULL,
    model text NOT NULL COLLATE pg_catalog."C"
);

--
-- Name: space_number_seq; Type: SEQUENCE; Schema: user-ann; Owner: -
--

ALTER TABLE "user-ann".space ALTER COLUMN number ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME "user-ann".space_number_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

--
-- Name: stored_export; Type: TABLE; Schema: user-ann; Owner: -
--

CREATE TABLE "user-ann".stored_export (
    path text NOT NULL COLLATE pg_catalog."C",
    packed bytea NOT NULL,
    size bigint NOT NULL,
    quoted text NOT NULL COLLATE pg_catalog."C",
    made_at bigint NOT NULL
);

--
-- Name: token; Type: TABLE; Schema: user-ann; Owner: -
--

CREATE TABLE "user-ann".token (
    id text NOT NULL COLLATE pg_catalog."C",
    hash text NOT NULL COLLATE pg_catalog."C",
    person text NOT NULL COLLATE pg_catalog."C",
    scope text NOT NULL COLLATE pg_catalog."C",
    spaces text NOT NULL COLLATE pg_catalog."C",
    created_at bigint NOT NULL,
    expires_at bigint,
    revoked_at bigint
);

--
-- Name: trace; Type: TABLE; Schema: user-ann; Owner: -
--

CREATE TABLE "user-ann".trace (
    entry bigint NOT NULL,
    place integer NOT NULL,
    kind text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    value text NOT NULL COLLATE pg_catalog."C"
);

--
-- Name: usage; Type: TABLE; Schema: user-ann; Owner: -
--

CREATE TABLE "user-ann".usage (
    conversation text NOT NULL COLLATE pg_catalog."C",
    key bigint NOT NULL,
    entry bigint,
    surface text NOT NULL COLLATE pg_catalog."C",
    model text NOT NULL COLLATE pg_catalog."C",
    at bigint,
    input bigint NOT NULL,
    output bigint NOT NULL,
    cache_read bigint NOT NULL,
    cache_write bigint NOT NULL,
    cache_write_1h bigint NOT NULL,
    reasoning bigint NOT NULL,
    cost_usd double precision,
    is_partial integer NOT NULL
);

--
-- Name: waiting; Type: TABLE; Schema: user-ann; Owner: -
--

CREATE TABLE "user-ann".waiting (
    space integer NOT NULL,
    entry bigint NOT NULL,
    leased_until bigint DEFAULT 0 NOT NULL,
    urgency bigint DEFAULT 0 NOT NULL
);

--
-- Name: watcher; Type: TABLE; Schema: user-ann; Owner: -
--

CREATE TABLE "user-ann".watcher (
    id text NOT NULL COLLATE pg_catalog."C",
    session text NOT NULL COLLATE pg_catalog."C",
    surface text NOT NULL COLLATE pg_catalog."C",
    filters text NOT NULL COLLATE pg_catalog."C",
    existing text NOT NULL COLLATE pg_catalog."C",
    sequence bigint NOT NULL,
    lifetime_s bigint NOT NULL,
    created_at bigint NOT NULL,
    expires_at bigint NOT NULL,
    stopped_at bigint
);

--
-- Name: witness; Type: TABLE; Schema: user-ann; Owner: -
--

CREATE TABLE "user-ann".witness (
    entry bigint NOT NULL,
    source bigint NOT NULL,
    conversation text NOT NULL COLLATE pg_catalog."C"
);

--
-- Data for Name: archive_pack; Type: TABLE DATA; Schema: user-ann; Owner: -
--

INSERT INTO "user-ann".archive_pack VALUES
	(1, 'id-1', '/p', 'memory-keeper', '\x78da7d8e4d4ec3301085af62cdda2d0d0545eaae7bc48e5562a151324a4dfd1339765b14e500ecb8013baec0b1e0088c0308c1a2963cf3e6496fe61ba1f1265937c0a602dd828448a7c86d48d6627864d507ff404d9c953e6024564d2016ed3d663bf5edefb0a79c69d8e8fc775cfba0e3eceed03932f9087603374b11398bd9096988a024e848966946a659ac99aafa1212b6cec71d057140936809d22563245cf4200b5994e5e5fababc5ae5f76f821e9b3db53f01e783c5ccd091a330ab4a7119272efee898816f6ec5eddd8da8d3bc41a0787f7b16e85afec21f8df878797d5a9ed938d680356c44c14bffd2ac9452d3f409e4597478'),
	(2, 'id-28', '/p', 'memory-keeper', '\x78da5d8f616ac3300c85af12f4dbedb2b6236c87d8054c282656336fb61514b9b484dcbd72e8184c3fa44f0f1e7a5a60a058529ee1c342f06040f0263ae69292e3bbd2c4f48d836c14ae4e50696054f06757e532f9bfe507ab675061a4a73d1007d9d42f9733c67ac48db38e84e2d4ebaac26516e80d04c1a469164db33bbc6b2cfb24039f24cd85b88994c73d985c6234f0328169cd6bd71d8e6fdda9adf56f034f94d0ff1a32717235c488197923db6b5b566d214dc4fa8c26b17dbfae0f66f45a07'),
	(3, 'id-23', '/home/ann/project', 'memory-keeper', '\x78dac592494fc3301085ff4a34e7b44d1754a99c7ae35ccaa989907186c4c44bf0d24555ff3be3908ab6e20448444afc3ccae47dcf9923702383d20e161b1025a4e071ef69714129660fa45a6bde90fb4e892df3488a5b24513eb3580e6df9b56930f6702a54a66f17c60adf556ba635ca68c22a478b42cfa897c58a0dce439182f0a888e6483483c98cb036bd4a61197cfd88762b38269c49e992b56950afb0354e78b24b844e9ce523462f0ebdbb4f5ec51e5db27c5a3f0cc69321a43a4899c2c8ab36de8dad43367b1f439aa5e3f97c32bd9bcfb278ddec207eafa3764d175e7841fef19490873edca6a0c7318797430e8b2487e0723851c9ec34c5a214bfa78712b970c26892b5a822923495d0d7c61e99eaacaf436404f1170cfd21fcb7ffc54ff886a13ffc5b8222ce57399866e7b12295c20a35eeb04c4a26e4e1e743e26312776ed7c6aa2bbacff9b89888a2389d3e00ed6e1710');

--
-- Data for Name: archived; Type: TABLE DATA; Schema: user-ann; Owner: -
--

INSERT INTO "user-ann".archived VALUES
	('id-24', 3, 'auth', 0, 'task', 'critical', 'security', 1772357400000, 1772357400000, 1772357400000),
	('id-29', 2, 'doomed', 0, NULL, 'normal', 'general', 1772357400000, 1772357400000, NULL),
	('id-3', 1, 'packed', 1, NULL, 'normal', 'general', 1772357400000, 1772357400000, NULL),
	('id-30', 3, 'tokens', 0, NULL, 'normal', 'login', 1772357400000, 1772357400000, 1772357400000);

--
-- Data for Name: archived_conversation; Type: TABLE DATA; Schema: user-ann; Owner: -
--

INSERT INTO "user-ann".archived_conversation VALUES
	('old', 'About old', '/p', 'test', 1772357400000, 1772357400000, 'main', NULL, '', '', '', '', '', 'full', 2, 'general', 0, 1, '\x78da2d8e5b0ac2400c45b722f92e5a5f14660dee4044c23496ea38a993191f94eedd449baf7b0fc92123dc49043b1270c711fa161c70685d0d15788e4f4a82b9e7f8c70a851ee0ea0a120752588492d24cefacedc0b15b60c74b4543e22b79a3abc1ee4abaa0b7934c92cd9e0833b567d49575d36cb6fb6657dbe8ee407853af0353a72266e15784e9645d35f6ad66c14f1fbbb9780c618ea9c45f9abeb13c45ea', 'own', 0, 0);

--
-- Data for Name: audited; Type: TABLE DATA; Schema: user-ann; Owner: -
--

INSERT INTO "user-ann".audited VALUES
	('1', 1772357400000, 'alice', 't', 'user-alice', 'save_context', 'completed');

--
-- Data for Name: brought_back; Type: TABLE DATA; Schema: user-ann; Owner: -
--

INSERT INTO "user-ann".brought_back VALUES
	('brought back', 1772357400000);

--
-- Data for Name: cached_file; Type: TABLE DATA; Schema: user-ann; Owner: -
--

INSERT INTO "user-ann".cached_file VALUES
	('id-19', 'id-17', '/home/ann/project/src/auth.ts', 'f4c5cf9bb78e85f15dc27180260637cf24b2a24bc39e0788783a3accc4dde614', 9, '{}', 1772357400000);

--
-- Data for Name: checkpoint; Type: TABLE DATA; Schema: user-ann; Owner: -
--

INSERT INTO "user-ann".checkpoint VALUES
	(1, 'id-20', 'before', '', 'id-17', '/home/ann/project', 'memory-keeper', '0027ae895a0c78b6c7c9de8d594e9ce36dc9b5dc509f3875913d1e70bb26cfb9', 1, 1, NULL, NULL, 1772357400000),
	(2, 'id-33', 'auto-compaction-2026-03-01T09:30:00.000Z', 'Taken before a compaction.', 'id-23', '/home/ann/project', 'memory-keeper', 'a401019d6f2c8aa11f5a4a10e22fda4f6aa8b0441f8019f4a71ea84b929cd000', 3, 0, NULL, NULL, 1772357400000);

--
-- Data for Name: command_run; Type: TABLE DATA; Schema: user-ann; Owner: -
--

INSERT INTO "user-ann".command_run VALUES
	(21, 1, 'talk', 'make', 'failed', 2);

--
-- Data for Name: connection; Type: TABLE DATA; Schema: user-ann; Owner: -
--

INSERT INTO "user-ann".connection VALUES
	('c', 'owner', 'p', 'd', NULL, 1772357400000, 'info');

--
-- Data for Name: content; Type: TABLE DATA; Schema: user-ann; Owner: -
--

INSERT INTO "user-ann".content VALUES
	('f4c5cf9bb78e85f15dc27180260637cf24b2a24bc39e0788783a3accc4dde614', '\x78014bad28c82f2a51a8ae050012dd03bb'),
	('fcdc481b9426e777e9d18dff26c4fc808364b4a26bad37bb174365d60007107b', '\x7801658e4d0f82300c86ff4ad3b37c8ac1e8899b67c513704098d03036dc864a8cffdd8dab4d9af47dda3c6981d47ad11e3780d96cfa0b534f6a183435e71a723930716693d464a45a800468d504b53df48d3ec29dde4c4376cd4f5e14fbd62166cead2930e3e47a50fd1c268fc86ec20d44691a6f776912bafa8be8acee8d9635a4490a37f7d4ad8ccb8e5650540e7f4abc2d251ea044c3eab1c4afa3f225b0fa0103fd3cd6'),
	('0027ae895a0c78b6c7c9de8d594e9ce36dc9b5dc509f3875913d1e70bb26cfb9', '\x78014d8fdb6ec32010447f25f273db70338bfb2b55542d0bc46ee24b3154ada2fc7b81a8521f608741cc196e1dadd73c2f7bf77a78eb26d73d1dbae4bf539d7b9e678c3f556e71fdf0d4dc2d4e5f987c7529faa2dc3bb68bbcb97fa78b6f0fa958e7f52f645ae3941efe88cbe2af0d87e7bdced9272c09d8bc98f7d49d2a63cccbe5d12e902365b81d94d01e00fce0b87121084d2a9061466a65150a6dd149b0968392ba779a31069c816d7961bafa16577ffbcc874aab02aa38a679abeb12c7ccd4273fee918e98d3f8925ac5a0a8a730580bc69b3ef0de91006e98d04c4ba02094155836928367600c188912894839e73557853114cced5e040710b20755da31763add7f014a767294'),
	('1f0abf3f5b31c33e47ed673decf24db6ab2a7d6cc048c88dad0f85c650bb7974', '\x7801a591cb4ec3301045f77cc568d67d2469aa48b0eaaedd96b28abb308921268e1dfc2044887fc793142101bb5ab27d676c5f9d2b9728eb6596e30270177c732fec9bac04545c290727d30a7d14bd71d21b3b82d4e06cb5e6f1e2cabb3b7892efc2c1eee1b45fa6d92a7ae8a054745afbaea7d9da2624f96b1a4f9205a445916db6459ed0f85322b91286e7aea5bdb2d2cbc841da892ac472245d9e69fd60f83832bc0586c131fca49e19349e6fca29d1961a070f83b1ad03ee4171e7af44bca47b31c1ea994b1bdbcd4a9967a9273c362561f88dd91953cfa00deffbc8fc9b7593d0bba3d0621035d45caaf14a50f4f4712eda5e90ffe39cf97e60be00fca39442'),
	('a401019d6f2c8aa11f5a4a10e22fda4f6aa8b0441f8019f4a71ea84b929cd000', '\x78014d8edd0e82300c855f85ecda0b64c0d05731c6746d0793df8ccd688cef2e1b31f1ea9c7e4dcfe95be03c84715ac539bb084be29009cf4f1f750de308ee15ede2e63b63a28bb30ff01c293ade1cdd202dc2427f53cfe91037d4cebf103b3beb77dec134f190eaa05da38eec614b80c45c58bdb8c68e2e4cfdfeddd1e4a08d3495964794924bc5542b498ca62849d7a00b505423e665834d4340b9692aacab5c6b755265ca3376e01477fd7c012e854d97');

--
-- Data for Name: conversation; Type: TABLE DATA; Schema: user-ann; Owner: -
--

INSERT INTO "user-ann".conversation VALUES
	('id-9', 'Log in', '/p', 'codearchitect', 1772357400000, 1772357400000, 'main', NULL, '', '/home/ann/project/2026-03-01/log-in/full.md', '/home/ann/project', '', '', 'full', 2, 'general', 0, 'own', 0, 0),
	('talk', 'About talk', '/p', 'test', 1772357400000, 1772357400000, 'main', NULL, '', '', '', '', '', 'full', 2, 'general', 0, 'own', 0, 0),
	('brought back', 'About brought back', '/p', 'test', 1772357400000, 1772357400000, 'main', NULL, '', '', '', '', '', 'full', 2, 'general', 0, 'own', 0, 0);

--
-- Data for Name: dismissal; Type: TABLE DATA; Schema: user-ann; Owner: -
--

INSERT INTO "user-ann".dismissal VALUES
	('0a1b2c3d4e5f6071', 1772357400000);

--
-- Data for Name: embedding; Type: TABLE DATA; Schema: user-ann; Owner: -
--

INSERT INTO "user-ann".embedding VALUES
	(15, 1, 11, '[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0.23571777,0,0,0,0,0,0.23571777,0,0,0,0,0,0,0,0,0,0,0.70703125,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0.23571777,0,0.23571777,0,0.23571777,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0.23571777,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0.23571777,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0.23571777,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0.23571777,0,0,0,0,0,0,0,0,0,0]', 4237798074695912346),
	(21, 1, 17, '[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0.70703125,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0.70703125,0,0,0]', -7766601659852171744),
	(22, 1, 18, '[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0.35351562,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0.35351562,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0.35351562,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0.35351562,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0.35351562,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0.35351562,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0.35351562,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0.35351562,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0]', -5516428200862015437),
	(7, 1, 7, '[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0.44726562,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0.44726562,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0.44726562,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0.44726562,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0.44726562,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0]', -5668029272913924344),
	(10, 1, 8, '[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0.35351562,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0.35351562,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0.35351562,0,0,0,0,0,0,0,0,0,0,0,0.35351562,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0.35351562,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0.35351562,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0.35351562,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0.35351562,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0]', 5074496645222042523),
	(8, 1, 6, '[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0.70703125,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0.70703125,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0]', -3742518104169860562),
	(16, 1, 12, '[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0.23571777,0,0,0,0,0,0.23571777,0,0,0,0,0,0,0,0,0,0,0.70703125,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0.23571777,0,0.23571777,0,0.23571777,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0.23571777,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0.23571777,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0.23571777,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0.23571777,0,0,0,0,0,0,0,0,0,0]', 4237798074695912346),
	(11, 1, 9, '[0,0,0,0,0,0,0,0,0,0,0,0,0.44726562,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0.44726562,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0.44726562,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0.44726562,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0.44726562,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0]', 7722150695362989203),
	(18, 1, 14, '[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0.40820312,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0.40820312,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0.40820312,0,0,0,0,0,0,0,0.40820312,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0.40820312,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0.40820312,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0]', 309755806459777061),
	(23, 1, 20, '[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,1,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0]', -3715801041838749592),
	(24, 1, 19, '[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0.70703125,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0.70703125,0,0]', -1382721481992567236),
	(27, 1, 25, '[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0.70703125,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0.70703125,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0]', -4465543183573410489);

--
-- Data for Name: entry; Type: TABLE DATA; Schema: user-ann; Owner: -
--

INSERT INTO "user-ann".entry VALUES
	(6, 'id-9:0', 'message', 'Log in', '01 March 2026', 'id-9', 0, 'user', '', '/p', 'codearchitect', 0, 0, 1772357400000, 1772357400000, '', NULL, NULL, NULL, NULL, NULL, NULL, 'own'),
	(7, 'id-9:1:json', 'message', '{"role": "assistant", "content": {"code": "```\n---"}}', '01 March 2026', 'id-9', 1, 'assistant', '', '/p', 'codearchitect', 0, 0, 1772357400000, 1772357400000, '', NULL, NULL, NULL, NULL, NULL, NULL, 'own'),
	(8, 'id-14', 'memory', 'Renew the token on every request.', 'reflection auth', 'id-13', 0, '', '', '/home/ann/project', 'session-mgmt', 0, 0, 1772357400000, 1772357400000, 'Renew the token on every request.', NULL, 'reflection', 'normal', 'general', '["auth"]', '{}', 'own'),
	(9, 'id-15', 'memory', 'Rotate the signing key', 'task', 'id-13', 0, '', '', '/home/ann/project', 'backstory', 0, 0, 1772357400000, 1772357400000, 'Rotate the signing key', NULL, 'task', 'normal', NULL, '[]', '{}', 'own'),
	(11, 'id-18', 'memory', 'AuthService calls TokenRepository in src/auth.ts; fixes AUTH-12.', 'auth decision', 'id-17', 0, '', '', '/home/ann/project', 'memory-keeper', 0, 0, 1772357400000, 1772357400000, 'AuthService calls TokenRepository in src/auth.ts; fixes AUTH-12.', 'auth', 'decision', 'high', 'login', '[]', '{"by": "team"}', 'own'),
	(12, 'id-22', 'memory', 'AuthService calls TokenRepository in src/auth.ts; fixes AUTH-12.', 'auth decision', 'id-21', 0, '', '', '/home/ann/project', 'memory-keeper', 0, 0, 1772357400000, 1772357400000, 'AuthService calls TokenRepository in src/auth.ts; fixes AUTH-12.', 'auth', 'decision', 'high', 'login', '[]', '{"by": "team"}', 'own'),
	(14, 'id-25', 'memory', 'It works at last.', 'journal auth', 'id-23', 0, '', '', '/home/ann/project', 'memory-keeper', 0, 0, 1772357400000, 1772357400000, 'It works at last.', NULL, 'journal', 'normal', 'login', '["auth"]', '{"mood": "happy"}', 'own'),
	(17, 'id-34', 'memory', 'Second.', 'again', 'id-23', 0, '', '', '/home/ann/project', 'memory-keeper', 0, 1, 1772357400000, 1772357400000, 'Second.', 'again', NULL, 'normal', 'login', '[]', '{}', 'own'),
	(18, 'id-37', 'memory', 'ci reported failed.
why: Owls.', 'event_ci_failed_id-36 note', 'id-23', 0, '', '', '/home/ann/project', 'memory-keeper', 0, 0, 1772357400000, 1772357400000, 'ci reported failed. why: Owls.', 'event_ci_failed_id-36', 'note', 'high', 'login', '[]', '{"tool": "ci", "eventType": "failed", "eventId": "id-36"}', 'tool'),
	(19, 'talk:0', 'message', 'Fix login.', '01 March 2026', 'talk', 0, 'user', '', '/p', 'test', 0, 0, 1772357400000, 1772357400000, '', NULL, NULL, NULL, NULL, NULL, NULL, 'own'),
	(20, 'talk:1', 'message', 'Done.', '01 March 2026', 'talk', 1, 'assistant', '', '/p', 'test', 0, 0, 1772357460000, 1772357460000, '', NULL, NULL, NULL, NULL, NULL, NULL, 'own'),
	(21, 'talk:3', 'message', 'src/login.ts', '01 March 2026', 'talk', 3, 'tool', '', '/p', 'test', 0, 0, 1772357580000, 1772357580000, '', NULL, NULL, NULL, NULL, NULL, NULL, 'own'),
	(25, 'brought back:0', 'message', 'Long ago.', '01 March 2026', 'brought back', 0, 'user', '', '/p', 'test', 0, 0, 1772357400000, 1772357400000, '', NULL, NULL, NULL, NULL, NULL, NULL, 'own');

--
-- Data for Name: entry_text; Type: TABLE DATA; Schema: user-ann; Owner: -
--

INSERT INTO "user-ann".entry_text VALUES
	(6, 'body', 0, '''in'':2 ''log'':1'),
	(6, 'heading', 0, '''01'':1 ''2026'':3 ''march'':2'),
	(7, 'body', 0, '''assist'':2 ''code'':4 ''content'':3 ''n'':5 ''role'':1'),
	(7, 'heading', 0, '''01'':1 ''2026'':3 ''march'':2'),
	(8, 'body', 0, '''everi'':5 ''on'':4 ''renew'':1 ''request'':6 ''the'':2 ''token'':3'),
	(8, 'heading', 0, '''auth'':2 ''reflect'':1'),
	(9, 'body', 0, '''key'':4 ''rotat'':1 ''sign'':3 ''the'':2'),
	(9, 'heading', 0, '''task'':1'),
	(11, 'body', 0, '''12'':10 ''auth'':6,9,11 ''authservic'':1 ''call'':2 ''fix'':8 ''in'':4 ''repositori'':14 ''servic'':12 ''src'':5 ''token'':13 ''tokenrepositori'':3 ''ts'':7'),
	(11, 'heading', 0, '''auth'':1 ''decis'':2'),
	(12, 'body', 0, '''12'':10 ''auth'':6,9,11 ''authservic'':1 ''call'':2 ''fix'':8 ''in'':4 ''repositori'':14 ''servic'':12 ''src'':5 ''token'':13 ''tokenrepositori'':3 ''ts'':7'),
	(12, 'heading', 0, '''auth'':1 ''decis'':2'),
	(14, 'body', 0, '''at'':3 ''it'':1 ''last'':4 ''work'':2'),
	(14, 'heading', 0, '''auth'':2 ''journal'':1'),
	(17, 'body', 0, '''second'':1'),
	(17, 'heading', 0, '''again'':1'),
	(18, 'body', 0, '''ci'':1 ''fail'':3 ''owl'':5 ''report'':2 ''whi'':4'),
	(18, 'heading', 0, '''36'':5 ''ci'':2 ''event'':1 ''eventcifailedid'':7 ''fail'':3 ''id'':4 ''note'':6'),
	(19, 'body', 0, '''fix'':1 ''login'':2'),
	(19, 'heading', 0, '''01'':1 ''2026'':3 ''march'':2'),
	(20, 'body', 0, '''done'':1'),
	(20, 'heading', 0, '''01'':1 ''2026'':3 ''march'':2'),
	(21, 'body', 0, '''login'':2 ''src'':1 ''ts'':3'),
	(21, 'heading', 0, '''01'':1 ''2026'':3 ''march'':2'),
	(25, 'body', 0, '''ago'':2 ''long'':1'),
	(25, 'heading', 0, '''01'':1 ''2026'':3 ''march'':2');

--
-- Data for Name: event; Type: TABLE DATA; Schema: user-ann; Owner: -
--

INSERT INTO "user-ann".event VALUES
	('id-11', 'id-10', '/home/ann/project', 'session-mgmt', 'session', 'checkpoint', '{"figures": {"overall": 40, "project_health": 0, "permissions": 100, "tools_available": 100, "items_saved": 0, "changed_files": 0, "changed_lines": 0, "test_runs": 0}, "files": {}, "git": null}', NULL, 1772357400000),
	('id-12', 'id-10', '/home/ann/project', 'session-mgmt', 'session', 'handoff', '{"session": "id-10", "project": "/home/ann/project", "started_at": "2026-03-01T09:30:00.000Z", "ended_at": "2026-03-01T09:30:00.000Z", "branch": "", "quality": 40, "decisions": [], "tasks": [], "errors": [], "files": ["2026-03-01/log-in/full.md", "2026-03-01/log-in/summary.md"], "next_steps": ["Add a manifest that says how the project is built.", "Let a CI service run the tests on each push.", "Write a README for tmpkrhu04q1."], "insights": [], "path": "/home/ann/project/.backstory/handoff/20260301-093000-id-10.md"}', NULL, 1772357400000),
	('id-26', 'id-23', '/home/ann/project', 'memory-keeper', 'ci', 'failed', '{"job": 7}', NULL, 1772357400000),
	('id-36', 'id-23', '/home/ann/project', 'memory-keeper', 'ci', 'failed', '{"why": "Owls."}', 'id-37', 1772357400000);

--
-- Data for Name: forgotten; Type: TABLE DATA; Schema: user-ann; Owner: -
--

INSERT INTO "user-ann".forgotten VALUES
	('gone', 1772357400000);

--
-- Data for Name: former; Type: TABLE DATA; Schema: user-ann; Owner: -
--

INSERT INTO "user-ann".former VALUES
	(17, 1, 'First.', NULL, 'normal', 'login', '{}', 0, 1772357400000);

--
-- Data for Name: graphed; Type: TABLE DATA; Schema: user-ann; Owner: -
--

INSERT INTO "user-ann".graphed VALUES
	(14, 0, 5, -390522781625776382),
	(12, 0, 5, -3919037613083283713),
	(11, 0, 5, -3919037613083283713);

--
-- Data for Name: handoff; Type: TABLE DATA; Schema: user-ann; Owner: -
--

INSERT INTO "user-ann".handoff VALUES
	('codex:new', 'old', 1772357400000, '["/h/new.jsonl"]');

--
-- Data for Name: imported; Type: TABLE DATA; Schema: user-ann; Owner: -
--

INSERT INTO "user-ann".imported VALUES
	('m', 'mem0', '/history.db', 'history/7', 'part', 'digest', 1772357400000),
	('id-37', 'mem0', '/history.db', 'history/8', 'part', 'digest of one', 1772357400000);

--
-- Data for Name: injection; Type: TABLE DATA; Schema: user-ann; Owner: -
--

INSERT INTO "user-ann".injection VALUES
	('talk', 1772357400000, '/p', 'Fix login.', 'SessionStart', '', NULL, NULL);

--
-- Data for Name: kept_answer; Type: TABLE DATA; Schema: user-ann; Owner: -
--

INSERT INTO "user-ann".kept_answer VALUES
	('key', 'chunks', '', '{"a": [1]}', 1772361000000);

--
-- Data for Name: key_set; Type: TABLE DATA; Schema: user-ann; Owner: -
--

INSERT INTO "user-ann".key_set VALUES
	('https://id.example/keys', '{}', 1772357400000);

--
-- Data for Name: key_text; Type: TABLE DATA; Schema: user-ann; Owner: -
--

INSERT INTO "user-ann".key_text VALUES
	(11, '''auth'':1'),
	(12, '''auth'':1'),
	(17, '''again'':1'),
	(18, '''36'':5 ''ci'':2 ''event'':1 ''eventcifailedid'':6 ''fail'':3 ''id'':4');

--
-- Data for Name: lease; Type: TABLE DATA; Schema: user-ann; Owner: -
--

--
-- Data for Name: link; Type: TABLE DATA; Schema: user-ann; Owner: -
--

INSERT INTO "user-ann".link VALUES
	('id-31', 'id-24', 'id-30', 'depends_on', '{}', 1772357400000, 1772357400000);

--
-- Data for Name: memory_change; Type: TABLE DATA; Schema: user-ann; Owner: -
--

INSERT INTO "user-ann".memory_change VALUES
	(1, 'UPDATE', 'id-24', 1772357400000, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
	(2, 'DELETE', 'id-24', 1772357400000, 'memory-keeper', 'id-23', 'auth', 'task', 'critical', 'security', 0, 0),
	(3, 'DELETE', 'id-30', 1772357400000, 'memory-keeper', 'id-23', 'tokens', NULL, 'normal', 'login', 0, 0),
	(4, 'DELETE', 'id-2', 1772357400000, 'memory-keeper', 'id-1', 'doomed', NULL, 'normal', 'general', 0, 1),
	(5, 'CREATE', 'id-34', 1772357400000, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
	(6, 'UPDATE', 'id-34', 1772357400000, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
	(7, 'CREATE', 'id-37', 1772357400000, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);

--
-- Data for Name: memory_file; Type: TABLE DATA; Schema: user-ann; Owner: -
--

INSERT INTO "user-ann".memory_file VALUES
	('/h/MEMORY.md', 'codex-memory', '/h', '/w', 3, 4, '', 0);

--
-- Data for Name: memory_origin; Type: TABLE DATA; Schema: user-ann; Owner: -
--

INSERT INTO "user-ann".memory_origin VALUES
	('/h/MEMORY.md', 'anchor', 'codex-memory', 'm', '/w', 'digest', 0);

--
-- Data for Name: mention; Type: TABLE DATA; Schema: user-ann; Owner: -
--

INSERT INTO "user-ann".mention VALUES
	(11, -8527899994233176127, 'file', 'src/auth.ts', 1),
	(11, -8125836151998100963, 'class', 'AuthService', 1),
	(11, -3919037613083283713, 'item', 'auth', 1),
	(11, 6851626783460987464, 'class', 'TokenRepository', 1),
	(11, 8831609943563104615, 'issue', 'AUTH-12', 1),
	(12, -8527899994233176127, 'file', 'src/auth.ts', 1),
	(12, -8125836151998100963, 'class', 'AuthService', 1),
	(12, -3919037613083283713, 'item', 'auth', 1),
	(12, 6851626783460987464, 'class', 'TokenRepository', 1),
	(12, 8831609943563104615, 'issue', 'AUTH-12', 1),
	(14, -390522781625776382, 'item', 'id-25', 1);

--
-- Data for Name: migration; Type: TABLE DATA; Schema: user-ann; Owner: -
--

INSERT INTO "user-ann".migration VALUES
	(1, 'entries', 1, 1794983359590),
	(2, 'sessions', 1, 1794983359622),
	(3, 'copies', 1, 1794983359664),
	(4, 'graph', 1, 1794983359681),
	(5, 'events', 1, 1794983359699),
	(6, 'keys', 6, 1794983359714),
	(7, 'histories', 6, 1794983359757),
	(8, 'kept_answers', 6, 1794983359779),
	(9, 'team', 6, 1794983359817),
	(10, 'archived_conversations', 6, 1794983359851),
	(11, 'levels', 6, 1794983359861),
	(12, 'trust', 6, 1794983359870),
	(13, 'witnesses', 6, 1794983359883),
	(14, 'prompts', 6, 1794983359902),
	(15, 'forgotten_memories', 6, 1794983359929),
	(16, 'imported', 6, 1794983359945),
	(17, 'injections', 6, 1794983359959),
	(18, 'moved', 6, 1794983359965),
	(19, 'embedding', 6, 1794983359977),
	(20, 'pending', 6, 1794983359989),
	(21, 'memory_indexes', 6, 1794983360010),
	(22, 'channels', 6, 1794983360033),
	(23, 'removals', 6, 1794983360043),
	(24, 'activity', 6, 1794983360054),
	(25, 'metadata', 6, 1794983360055),
	(26, 'deleted_words', 6, 1794983360058),
	(27, 'links', 6, 1794983360090),
	(28, 'level', 28, 1794983360100),
	(29, 'shape', 6, 1794983360115),
	(30, 'sayings', 6, 1794983360135),
	(31, 'traces', 31, 1794983360155),
	(32, 'command_runs', 32, 1794983360184),
	(33, 'receipts', 6, 1794983360196),
	(34, 'client_memories', 28, 1794983360214),
	(35, 'devices', 28, 1794983360217),
	(36, 'handoffs', 36, 1794983360267),
	(37, 'key_sets', 36, 1794983360277),
	(38, 'exports', 38, 1794983360306);

--
-- Data for Name: relation; Type: TABLE DATA; Schema: user-ann; Owner: -
--

INSERT INTO "user-ann".relation VALUES
	(11, -8527899994233176127, 'decided_in', -3919037613083283713, 0.7),
	(11, -8125836151998100963, 'calls', 6851626783460987464, 0.85),
	(11, -8125836151998100963, 'decided_in', -3919037613083283713, 0.7),
	(11, -3919037613083283713, 'fixes', 8831609943563104615, 0.75),
	(11, -3919037613083283713, 'mentions', -8527899994233176127, 1),
	(11, -3919037613083283713, 'mentions', -8125836151998100963, 1),
	(11, -3919037613083283713, 'mentions', 6851626783460987464, 1),
	(11, -3919037613083283713, 'mentions', 8831609943563104615, 1),
	(11, 6851626783460987464, 'decided_in', -3919037613083283713, 0.7),
	(11, 6851626783460987464, 'located_in', -8527899994233176127, 0.85),
	(11, 8831609943563104615, 'decided_in', -3919037613083283713, 0.7),
	(12, -8527899994233176127, 'decided_in', -3919037613083283713, 0.7),
	(12, -8125836151998100963, 'calls', 6851626783460987464, 0.85),
	(12, -8125836151998100963, 'decided_in', -3919037613083283713, 0.7),
	(12, -3919037613083283713, 'fixes', 8831609943563104615, 0.75),
	(12, -3919037613083283713, 'mentions', -8527899994233176127, 1),
	(12, -3919037613083283713, 'mentions', -8125836151998100963, 1),
	(12, -3919037613083283713, 'mentions', 6851626783460987464, 1),
	(12, -3919037613083283713, 'mentions', 8831609943563104615, 1),
	(12, 6851626783460987464, 'decided_in', -3919037613083283713, 0.7),
	(12, 6851626783460987464, 'located_in', -8527899994233176127, 0.85),
	(12, 8831609943563104615, 'decided_in', -3919037613083283713, 0.7);

--
-- Data for Name: removal; Type: TABLE DATA; Schema: user-ann; Owner: -
--

INSERT INTO "user-ann".removal VALUES
	(1, 13);

--
-- Data for Name: result; Type: TABLE DATA; Schema: user-ann; Owner: -
--

INSERT INTO "user-ann".result VALUES
	(21, 0, 'call', 'Read', 0, 12, 0, 0, 0, NULL, NULL, 7, 0, 0, '\x28b52ffd200739000061204e554c2000');

--
-- Data for Name: run_line; Type: TABLE DATA; Schema: user-ann; Owner: -
--

INSERT INTO "user-ann".run_line VALUES
	(21, 1, 0, -5, 0, 'error: 7');

--
-- Data for Name: saying; Type: TABLE DATA; Schema: user-ann; Owner: -
--

INSERT INTO "user-ann".saying VALUES
	(21, 0, 'talk', 'commit', '[main 0a1b2c3] Log in', 'log', '', '');

--
-- Data for Name: session; Type: TABLE DATA; Schema: user-ann; Owner: -
--

INSERT INTO "user-ann".session VALUES
	('id-1', 'Unnamed session', '', '/p', 'memory-keeper', 'general', NULL, 1772357400000, 1772357400000),
	('id-10', 'tmpkrhu04q1', '', '/home/ann/project', 'session-mgmt', 'tmpkrhu04q1', NULL, 1772357400000, 1772357400000),
	('id-13', 'Unnamed session', '', '/home/ann/project', 'session-mgmt', 'general', NULL, 1772357400000, 1772357400000),
	('id-17', 'Login', '', '/home/ann/project', 'memory-keeper', 'login', NULL, 1772357400000, 1772357400000),
	('id-21', 'Restored: before', '', '/home/ann/project', 'memory-keeper', 'login', 'id-17', 1772357400000, 1772357400000),
	('id-28', 'Unnamed session', '', '/p', 'memory-keeper', 'general', NULL, 1772357400000, 1772357400000),
	('id-23', 'experiment', '', '/home/ann/project', 'memory-keeper', 'login', 'id-21', 1772357400000, 1772357400000);

--
-- Data for Name: shape; Type: TABLE DATA; Schema: user-ann; Owner: -
--

INSERT INTO "user-ann".shape VALUES
	(6, 0, 0, 6),
	(7, 0, 0, 54),
	(8, 0, 1, 33),
	(9, 0, 1, 22),
	(11, 0, 1, 64),
	(12, 0, 1, 64),
	(14, 0, 1, 17),
	(17, 0, 1, 7),
	(18, 0, 1, 30),
	(19, 0, 0, 10),
	(20, 0, 0, 5),
	(21, 1, 0, 12),
	(25, 0, 0, 9);

--
-- Data for Name: source; Type: TABLE DATA; Schema: user-ann; Owner: -
--

INSERT INTO "user-ann".source VALUES
	('/talks.jsonl', 'claude-code', 10, 7, 0, '', '', '{"a": 1}', '{}', 0, '', 0, 1772357400000);

--
-- Data for Name: space; Type: TABLE DATA; Schema: user-ann; Owner: -
--

INSERT INTO "user-ann".space VALUES
	(1, 'hashed-words'),
	(2, 'a model that embeds nothing');

--
-- Data for Name: stored_export; Type: TABLE DATA; Schema: user-ann; Owner: -
--

INSERT INTO "user-ann".stored_export VALUES
	('talk.md', '\x789c0b4ecc4cd10300055901b0', 5, '["talk"]', 1772357400000);

--
-- Data for Name: token; Type: TABLE DATA; Schema: user-ann; Owner: -
--

INSERT INTO "user-ann".token VALUES
	('t', 'hash', 'alice', 'read', '["ops"]', 1772357400000, NULL, NULL);

--
-- Data for Name: trace; Type: TABLE DATA; Schema: user-ann; Owner: -
--

INSERT INTO "user-ann".trace VALUES
	(21, 0, 'read', 'login.ts', 'src/login.ts'),
	(21, 1, 'command', 'make', 'make');

--
-- Data for Name: usage; Type: TABLE DATA; Schema: user-ann; Owner: -
--

INSERT INTO "user-ann".usage VALUES
	('talk', 1054384984146687553, NULL, 'claude-code', 'a model', NULL, 1, 0, 0, 0, 0, 0, 0.1, 0);

--
-- Data for Name: waiting; Type: TABLE DATA; Schema: user-ann; Owner: -
--

INSERT INTO "user-ann".waiting VALUES
	(2, 6, 0, 1803893400000),
	(2, 7, 0, 1803893400000),
	(2, 8, 0, 4925957400000),
	(2, 9, 0, 4925957400000),
	(2, 11, 0, 4925957400000),
	(2, 12, 0, 4925957400000),
	(2, 14, 0, 4925957400000),
	(2, 17, 0, 4925957400000),
	(2, 18, 0, 4925957400000),
	(2, 19, 0, 1803893400000),
	(2, 20, 0, 1803893460000),
	(2, 25, 0, 1803893400000);

--
-- Data for Name: watcher; Type: TABLE DATA; Schema: user-ann; Owner: -
--

INSERT INTO "user-ann".watcher VALUES
	('watch_41e23c16', 'id-23', 'memory-keeper', '{"keys": ["auth*"]}', '["id-18", "id-22", "id-24"]', 0, 1800, 1772357400000, 1772359200000, NULL);

--
-- Data for Name: witness; Type: TABLE DATA; Schema: user-ann; Owner: -
--

INSERT INTO "user-ann".witness VALUES
	(21, 7, 'talk');

--
-- Name: embedding_v_seq; Type: SEQUENCE SET; Schema: user-ann; Owner: -
--

SELECT pg_catalog.setval('"user-ann".embedding_v_seq', 27, true);

--
-- Name: entry_n_seq; Type: SEQUENCE SET; Schema: user-ann; Owner: -
--

SELECT pg_catalog.setval('"user-ann".entry_n_seq', 25, true);

--
-- Name: space_number_seq; Type: SEQUENCE SET; Schema: user-ann; Owner: -
--

SELECT pg_catalog.setval('"user-ann".space_number_seq', 2, true);

--
-- Name: archive_pack archive_pack_pkey; Type: CONSTRAINT; Schema: user-ann; Owner: -
--

ALTER TABLE ONLY "user-ann".archive_pack
    ADD CONSTRAINT archive_pack_pkey PRIMARY KEY (n);

ALTER TABLE "user-ann".archive_pack CLUSTER ON archive_pack_pkey;

--
-- Name: archived_conversation archived_conversation_pkey; Type: CONSTRAINT; Schema: user-ann; Owner: -
--

ALTER TABLE ONLY "user-ann".archived_conversation
    ADD CONSTRAINT archived_conversation_pkey PRIMARY KEY (id);

--
-- Name: archived archived_pkey; Type: CONSTRAINT; Schema: user-ann; Owner: -
--

ALTER TABLE ONLY "user-ann".archived
    ADD CONSTRAINT archived_pkey PRIMARY KEY (id);

ALTER TABLE "user-ann".archived CLUSTER ON archived_pkey;

--
-- Name: audited audited_pkey; Type: CONSTRAINT; Schema: user-ann; Owner: -
--

ALTER TABLE ONLY "user-ann".audited
    ADD CONSTRAINT audited_pkey PRIMARY KEY (id);

--
-- Name: brought_back brought_back_pkey; Type: CONSTRAINT; Schema: user-ann; Owner: -
--

ALTER TABLE ONLY "user-ann".brought_back
    ADD CONSTRAINT brought_back_pkey PRIMARY KEY (id);

--
-- Name: cached_file cached_file_id_key; Type: CONSTRAINT; Schema: user-ann; Owner: -
--

ALTER TABLE ONLY "user-ann".cached_file
    ADD CONSTRAINT cached_file_id_key UNIQUE (id);

--
-- Name: cached_file cached_file_pkey; Type: CONSTRAINT; Schema: user-ann; Owner: -
--

ALTER TABLE ONLY "user-ann".cached_file
    ADD CONSTRAINT cached_file_pkey PRIMARY KEY (session, path);

--
-- Name: checkpoint checkpoint_id_key; Type: CONSTRAINT; Schema: user-ann; Owner: -
--

ALTER TABLE ONLY "user-ann".checkpoint
    ADD CONSTRAINT checkpoint_id_key UNIQUE (id);

--
-- Name: checkpoint checkpoint_pkey; Type: CONSTRAINT; Schema: user-ann; Owner: -
--

ALTER TABLE ONLY "user-ann".checkpoint
    ADD CONSTRAINT checkpoint_pkey PRIMARY KEY (n);

--
-- Name: command_run command_run_pkey; Type: CONSTRAINT; Schema: user-ann; Owner: -
--

ALTER TABLE ONLY "user-ann".command_run
    ADD CONSTRAINT command_run_pkey PRIMARY KEY (entry, place);

--
-- Name: connection connection_pkey; Type: CONSTRAINT; Schema: user-ann; Owner: -
--

ALTER TABLE ONLY "user-ann".connection
    ADD CONSTRAINT connection_pkey PRIMARY KEY (id);

--
-- Name: content content_pkey; Type: CONSTRAINT; Schema: user-ann; Owner: -
--

ALTER TABLE ONLY "user-ann".content
    ADD CONSTRAINT content_pkey PRIMARY KEY (hash);

--
-- Name: conversation conversation_pkey; Type: CONSTRAINT; Schema: user-ann; Owner: -
--

ALTER TABLE ONLY "user-ann".conversation
    ADD CONSTRAINT conversation_pkey PRIMARY KEY (id);

--
-- Name: dismissal dismissal_pkey; Type: CONSTRAINT; Schema: user-ann; Owner: -
--

ALTER TABLE ONLY "user-ann".dismissal
    ADD CONSTRAINT dismissal_pkey PRIMARY KEY (statement);

--
-- Name: embedding embedding_pkey; Type: CONSTRAINT; Schema: user-ann; Owner: -
--

ALTER TABLE ONLY "user-ann".embedding
    ADD CONSTRAINT embedding_pkey PRIMARY KEY (v);

--
-- Name: entry entry_id_key; Type: CONSTRAINT; Schema: user-ann; Owner: -
--

ALTER TABLE ONLY "user-ann".entry
    ADD CONSTRAINT entry_id_key UNIQUE (id);

--
-- Name: entry entry_pkey; Type: CONSTRAINT; Schema: user-ann; Owner: -
--

ALTER TABLE ONLY "user-ann".entry
    ADD CONSTRAINT entry_pkey PRIMARY KEY (n);

ALTER TABLE "user-ann".entry CLUSTER ON entry_pkey;

--
-- Name: entry_text entry_text_pkey; Type: CONSTRAINT; Schema: user-ann; Owner: -
--

ALTER TABLE ONLY "user-ann".entry_text
    ADD CONSTRAINT entry_text_pkey PRIMARY KEY (entry, field, part);

ALTER TABLE "user-ann".entry_text CLUSTER ON entry_text_pkey;

--
-- Name: event event_pkey; Type: CONSTRAINT; Schema: user-ann; Owner: -
--

ALTER TABLE ONLY "user-ann".event
    ADD CONSTRAINT event_pkey PRIMARY KEY (id);

ALTER TABLE "user-ann".event CLUSTER ON event_pkey;

--
-- Name: forgotten forgotten_pkey; Type: CONSTRAINT; Schema: user-ann; Owner: -
--

ALTER TABLE ONLY "user-ann".forgotten
    ADD CONSTRAINT forgotten_pkey PRIMARY KEY (conversation);

--
-- Name: former former_pkey; Type: CONSTRAINT; Schema: user-ann; Owner: -
--

ALTER TABLE ONLY "user-ann".former
    ADD CONSTRAINT former_pkey PRIMARY KEY (entry, place);

ALTER TABLE "user-ann".former CLUSTER ON former_pkey;

--
-- Name: graphed graphed_pkey; Type: CONSTRAINT; Schema: user-ann; Owner: -
--

ALTER TABLE ONLY "user-ann".graphed
    ADD CONSTRAINT graphed_pkey PRIMARY KEY (entry, revision, extractor);

--
-- Name: handoff handoff_pkey; Type: CONSTRAINT; Schema: user-ann; Owner: -
--

ALTER TABLE ONLY "user-ann".handoff
    ADD CONSTRAINT handoff_pkey PRIMARY KEY (conversation);

--
-- Name: imported imported_pkey; Type: CONSTRAINT; Schema: user-ann; Owner: -
--

ALTER TABLE ONLY "user-ann".imported
    ADD CONSTRAINT imported_pkey PRIMARY KEY (id);

ALTER TABLE "user-ann".imported CLUSTER ON imported_pkey;

--
-- Name: injection injection_pkey; Type: CONSTRAINT; Schema: user-ann; Owner: -
--

ALTER TABLE ONLY "user-ann".injection
    ADD CONSTRAINT injection_pkey PRIMARY KEY (session, given_at);

ALTER TABLE "user-ann".injection CLUSTER ON injection_pkey;

--
-- Name: kept_answer kept_answer_pkey; Type: CONSTRAINT; Schema: user-ann; Owner: -
--

ALTER TABLE ONLY "user-ann".kept_answer
    ADD CONSTRAINT kept_answer_pkey PRIMARY KEY (key);

ALTER TABLE "user-ann".kept_answer CLUSTER ON kept_answer_pkey;

--
-- Name: key_set key_set_pkey; Type: CONSTRAINT; Schema: user-ann; Owner: -
--

ALTER TABLE ONLY "user-ann".key_set
    ADD CONSTRAINT key_set_pkey PRIMARY KEY (url);

--
-- Name: key_text key_text_pkey; Type: CONSTRAINT; Schema: user-ann; Owner: -
--

ALTER TABLE ONLY "user-ann".key_text
    ADD CONSTRAINT key_text_pkey PRIMARY KEY (entry);

ALTER TABLE "user-ann".key_text CLUSTER ON key_text_pkey;

--
-- Name: lease lease_pkey; Type: CONSTRAINT; Schema: user-ann; Owner: -
--

ALTER TABLE ONLY "user-ann".lease
    ADD CONSTRAINT lease_pkey PRIMARY KEY (name);

--
-- Name: link link_pkey; Type: CONSTRAINT; Schema: user-ann; Owner: -
--

ALTER TABLE ONLY "user-ann".link
    ADD CONSTRAINT link_pkey PRIMARY KEY (id);

ALTER TABLE "user-ann".link CLUSTER ON link_pkey;

--
-- Name: link link_source_target_relationship_key; Type: CONSTRAINT; Schema: user-ann; Owner: -
--

ALTER TABLE ONLY "user-ann".link
    ADD CONSTRAINT link_source_target_relationship_key UNIQUE (source, target, relationship);

--
-- Name: memory_change memory_change_pkey; Type: CONSTRAINT; Schema: user-ann; Owner: -
--

ALTER TABLE ONLY "user-ann".memory_change
    ADD CONSTRAINT memory_change_pkey PRIMARY KEY (sequence);

ALTER TABLE "user-ann".memory_change CLUSTER ON memory_change_pkey;

--
-- Name: memory_file memory_file_pkey; Type: CONSTRAINT; Schema: user-ann; Owner: -
--

ALTER TABLE ONLY "user-ann".memory_file
    ADD CONSTRAINT memory_file_pkey PRIMARY KEY (path);

--
-- Name: memory_origin memory_origin_pkey; Type: CONSTRAINT; Schema: user-ann; Owner: -
--

ALTER TABLE ONLY "user-ann".memory_origin
    ADD CONSTRAINT memory_origin_pkey PRIMARY KEY (path, anchor);

--
-- Name: mention mention_pkey; Type: CONSTRAINT; Schema: user-ann; Owner: -
--

ALTER TABLE ONLY "user-ann".mention
    ADD CONSTRAINT mention_pkey PRIMARY KEY (entry, entity);

ALTER TABLE "user-ann".mention CLUSTER ON mention_pkey;

--
-- Name: migration migration_pkey; Type: CONSTRAINT; Schema: user-ann; Owner: -
--

ALTER TABLE ONLY "user-ann".migration
    ADD CONSTRAINT migration_pkey PRIMARY KEY (version);

--
-- Name: relation relation_pkey; Type: CONSTRAINT; Schema: user-ann; Owner: -
--

ALTER TABLE ONLY "user-ann".relation
    ADD CONSTRAINT relation_pkey PRIMARY KEY (entry, subject, predicate, object);

ALTER TABLE "user-ann".relation CLUSTER ON relation_pkey;

--
-- Name: removal removal_pkey; Type: CONSTRAINT; Schema: user-ann; Owner: -
--

ALTER TABLE ONLY "user-ann".removal
    ADD CONSTRAINT removal_pkey PRIMARY KEY (one);

--
-- Name: result result_pkey; Type: CONSTRAINT; Schema: user-ann; Owner: -
--

ALTER TABLE ONLY "user-ann".result
    ADD CONSTRAINT result_pkey PRIMARY KEY (entry, place);

--
-- Name: run_line run_line_pkey; Type: CONSTRAINT; Schema: user-ann; Owner: -
--

ALTER TABLE ONLY "user-ann".run_line
    ADD CONSTRAINT run_line_pkey PRIMARY KEY (entry, place, number);

--
-- Name: saying saying_pkey; Type: CONSTRAINT; Schema: user-ann; Owner: -
--

ALTER TABLE ONLY "user-ann".saying
    ADD CONSTRAINT saying_pkey PRIMARY KEY (entry, place);

--
-- Name: session session_pkey; Type: CONSTRAINT; Schema: user-ann; Owner: -
--

ALTER TABLE ONLY "user-ann".session
    ADD CONSTRAINT session_pkey PRIMARY KEY (id);

--
-- Name: shape shape_pkey; Type: CONSTRAINT; Schema: user-ann; Owner: -
--

ALTER TABLE ONLY "user-ann".shape
    ADD CONSTRAINT shape_pkey PRIMARY KEY (n);

--
-- Name: source source_pkey; Type: CONSTRAINT; Schema: user-ann; Owner: -
--

ALTER TABLE ONLY "user-ann".source
    ADD CONSTRAINT source_pkey PRIMARY KEY (path);

--
-- Name: space space_model_key; Type: CONSTRAINT; Schema: user-ann; Owner: -
--

ALTER TABLE ONLY "user-ann".space
    ADD CONSTRAINT space_model_key UNIQUE (model);

--
-- Name: space space_pkey; Type: CONSTRAINT; Schema: user-ann; Owner: -
--

ALTER TABLE ONLY "user-ann".space
    ADD CONSTRAINT space_pkey PRIMARY KEY (number);

--
-- Name: stored_export stored_export_pkey; Type: CONSTRAINT; Schema: user-ann; Owner: -
--

ALTER TABLE ONLY "user-ann".stored_export
    ADD CONSTRAINT stored_export_pkey PRIMARY KEY (path);

ALTER TABLE "user-ann".stored_export CLUSTER ON stored_export_pkey;

--
-- Name: token token_hash_key; Type: CONSTRAINT; Schema: user-ann; Owner: -
--

ALTER TABLE ONLY "user-ann".token
    ADD CONSTRAINT token_hash_key UNIQUE (hash);

--
-- Name: token token_pkey; Type: CONSTRAINT; Schema: user-ann; Owner: -
--

ALTER TABLE ONLY "user-ann".token
    ADD CONSTRAINT token_pkey PRIMARY KEY (id);

--
-- Name: trace trace_pkey; Type: CONSTRAINT; Schema: user-ann; Owner: -
--

ALTER TABLE ONLY "user-ann".trace
    ADD CONSTRAINT trace_pkey PRIMARY KEY (entry, place);

--
-- Name: usage usage_pkey; Type: CONSTRAINT; Schema: user-ann; Owner: -
--

ALTER TABLE ONLY "user-ann".usage
    ADD CONSTRAINT usage_pkey PRIMARY KEY (conversation, key);

--
-- Name: waiting waiting_pkey; Type: CONSTRAINT; Schema: user-ann; Owner: -
--

ALTER TABLE ONLY "user-ann".waiting
    ADD CONSTRAINT waiting_pkey PRIMARY KEY (space, urgency, entry);

--
-- Name: watcher watcher_pkey; Type: CONSTRAINT; Schema: user-ann; Owner: -
--

ALTER TABLE ONLY "user-ann".watcher
    ADD CONSTRAINT watcher_pkey PRIMARY KEY (id);

--
-- Name: witness witness_pkey; Type: CONSTRAINT; Schema: user-ann; Owner: -
--

ALTER TABLE ONLY "user-ann".witness
    ADD CONSTRAINT witness_pkey PRIMARY KEY (entry, source);

--
-- Name: archived_conversation_parent; Type: INDEX; Schema: user-ann; Owner: -
--

CREATE INDEX archived_conversation_parent ON "user-ann".archived_conversation USING btree (parent);

--
-- Name: archived_key; Type: INDEX; Schema: user-ann; Owner: -
--

CREATE INDEX archived_key ON "user-ann".archived USING btree (key);

--
-- Name: archived_pack; Type: INDEX; Schema: user-ann; Owner: -
--

CREATE INDEX archived_pack ON "user-ann".archived USING btree (pack);

--
-- Name: audited_at; Type: INDEX; Schema: user-ann; Owner: -
--

CREATE INDEX audited_at ON "user-ann".audited USING btree (at);

--
-- Name: cached_file_hash; Type: INDEX; Schema: user-ann; Owner: -
--

CREATE INDEX cached_file_hash ON "user-ann".cached_file USING btree (hash);

--
-- Name: checkpoint_name; Type: INDEX; Schema: user-ann; Owner: -
--

CREATE INDEX checkpoint_name ON "user-ann".checkpoint USING btree (surface, name);

--
-- Name: checkpoint_session; Type: INDEX; Schema: user-ann; Owner: -
--

CREATE INDEX checkpoint_session ON "user-ann".checkpoint USING btree (session);

--
-- Name: command_run_thread; Type: INDEX; Schema: user-ann; Owner: -
--

CREATE INDEX command_run_thread ON "user-ann".command_run USING btree (thread);

--
-- Name: connection_seen; Type: INDEX; Schema: user-ann; Owner: -
--

CREATE INDEX connection_seen ON "user-ann".connection USING btree (seen_at);

--
-- Name: conversation_parent; Type: INDEX; Schema: user-ann; Owner: -
--

CREATE INDEX conversation_parent ON "user-ann".conversation USING btree (parent);

--
-- Name: conversation_project; Type: INDEX; Schema: user-ann; Owner: -
--

CREATE INDEX conversation_project ON "user-ann".conversation USING btree (project);

--
-- Name: conversation_rules; Type: INDEX; Schema: user-ann; Owner: -
--

CREATE INDEX conversation_rules ON "user-ann".conversation USING btree (rules, updated_at);

--
-- Name: conversation_run_rules; Type: INDEX; Schema: user-ann; Owner: -
--

CREATE INDEX conversation_run_rules ON "user-ann".conversation USING btree (run_rules, updated_at);

--
-- Name: conversation_source; Type: INDEX; Schema: user-ann; Owner: -
--

CREATE INDEX conversation_source ON "user-ann".conversation USING btree (source);

--
-- Name: conversation_updated; Type: INDEX; Schema: user-ann; Owner: -
--

CREATE INDEX conversation_updated ON "user-ann".conversation USING btree (updated_at, surface, kind);

--
-- Name: embedding_entry; Type: INDEX; Schema: user-ann; Owner: -
--

CREATE INDEX embedding_entry ON "user-ann".embedding USING btree (entry, space);

--
-- Name: embedding_nearest_1_512; Type: INDEX; Schema: user-ann; Owner: -
--

CREATE INDEX embedding_nearest_1_512 ON "user-ann".embedding USING hnsw (((code)::public.halfvec(512)) public.halfvec_ip_ops) WHERE (space = 1);

--
-- Name: embedding_passage; Type: INDEX; Schema: user-ann; Owner: -
--

CREATE INDEX embedding_passage ON "user-ann".embedding USING btree (space, passage);

--
-- Name: entry_activity; Type: INDEX; Schema: user-ann; Owner: -
--

CREATE INDEX entry_activity ON "user-ann".entry USING btree (project, kind, updated_at) WHERE (kind = 'memory'::text);

--
-- Name: entry_channel; Type: INDEX; Schema: user-ann; Owner: -
--

CREATE INDEX entry_channel ON "user-ann".entry USING btree (((channel || ''::text))) WHERE ((kind = 'memory'::text) AND (channel IS NOT NULL));

--
-- Name: entry_created; Type: INDEX; Schema: user-ann; Owner: -
--

CREATE INDEX entry_created ON "user-ann".entry USING btree (created_at);

--
-- Name: entry_key; Type: INDEX; Schema: user-ann; Owner: -
--

CREATE INDEX entry_key ON "user-ann".entry USING btree (key, surface, kind, thread) WHERE (key IS NOT NULL);

--
-- Name: entry_metadata; Type: INDEX; Schema: user-ann; Owner: -
--

CREATE INDEX entry_metadata ON "user-ann".entry USING btree (kind) WHERE ((kind = 'memory'::text) AND (metadata <> '{}'::text));

--
-- Name: entry_project; Type: INDEX; Schema: user-ann; Owner: -
--

CREATE INDEX entry_project ON "user-ann".entry USING btree (project, kind);

--
-- Name: entry_prompt; Type: INDEX; Schema: user-ann; Owner: -
--

CREATE INDEX entry_prompt ON "user-ann".entry USING btree (thread, seq) WHERE (role = 'user'::text);

--
-- Name: entry_repository; Type: INDEX; Schema: user-ann; Owner: -
--

CREATE INDEX entry_repository ON "user-ann".entry USING btree (project) WHERE (trust = ANY (ARRAY['project'::text, 'team'::text]));

--
-- Name: entry_revision; Type: INDEX; Schema: user-ann; Owner: -
--

CREATE INDEX entry_revision ON "user-ann".entry USING btree (surface, kind, revision, private, thread, n) WHERE (kind = 'memory'::text);

--
-- Name: entry_saved; Type: INDEX; Schema: user-ann; Owner: -
--

CREATE INDEX entry_saved ON "user-ann".entry USING btree (created_at) WHERE (kind = 'memory'::text);

--
-- Name: entry_surface; Type: INDEX; Schema: user-ann; Owner: -
--

CREATE INDEX entry_surface ON "user-ann".entry USING btree (surface, kind);

--
-- Name: entry_tally; Type: INDEX; Schema: user-ann; Owner: -
--

CREATE INDEX entry_tally ON "user-ann".entry USING btree (thread, kind, category, priority, updated_at, created_at, private, surface) WHERE (kind = 'memory'::text);

--
-- Name: entry_text_words; Type: INDEX; Schema: user-ann; Owner: -
--

CREATE INDEX entry_text_words ON "user-ann".entry_text USING gin (words) WITH (gin_pending_list_limit='64');

--
-- Name: entry_thread; Type: INDEX; Schema: user-ann; Owner: -
--

CREATE INDEX entry_thread ON "user-ann".entry USING btree (thread, seq);

--
-- Name: entry_updated; Type: INDEX; Schema: user-ann; Owner: -
--

CREATE INDEX entry_updated ON "user-ann".entry USING btree (updated_at) WHERE (kind = 'memory'::text);

--
-- Name: event_created; Type: INDEX; Schema: user-ann; Owner: -
--

CREATE INDEX event_created ON "user-ann".event USING btree (surface, created_at);

--
-- Name: handoff_source; Type: INDEX; Schema: user-ann; Owner: -
--

CREATE INDEX handoff_source ON "user-ann".handoff USING btree (source);

--
-- Name: imported_part; Type: INDEX; Schema: user-ann; Owner: -
--

CREATE INDEX imported_part ON "user-ann".imported USING btree (part);

--
-- Name: injection_given; Type: INDEX; Schema: user-ann; Owner: -
--

CREATE INDEX injection_given ON "user-ann".injection USING btree (given_at);

--
-- Name: injection_project; Type: INDEX; Schema: user-ann; Owner: -
--

CREATE INDEX injection_project ON "user-ann".injection USING btree (project);

--
-- Name: kept_answer_expiry; Type: INDEX; Schema: user-ann; Owner: -
--

CREATE INDEX kept_answer_expiry ON "user-ann".kept_answer USING btree (expires_at);

--
-- Name: key_text_words; Type: INDEX; Schema: user-ann; Owner: -
--

CREATE INDEX key_text_words ON "user-ann".key_text USING gin (words) WITH (gin_pending_list_limit='64');

--
-- Name: link_target; Type: INDEX; Schema: user-ann; Owner: -
--

CREATE INDEX link_target ON "user-ann".link USING btree (target);

--
-- Name: memory_change_deleted; Type: INDEX; Schema: user-ann; Owner: -
--

CREATE INDEX memory_change_deleted ON "user-ann".memory_change USING btree (changed_at) WHERE (kind = 'DELETE'::text);

--
-- Name: memory_change_memory; Type: INDEX; Schema: user-ann; Owner: -
--

CREATE INDEX memory_change_memory ON "user-ann".memory_change USING btree (memory);

--
-- Name: memory_origin_digest; Type: INDEX; Schema: user-ann; Owner: -
--

CREATE INDEX memory_origin_digest ON "user-ann".memory_origin USING btree (digest);

--
-- Name: memory_origin_memory; Type: INDEX; Schema: user-ann; Owner: -
--

CREATE INDEX memory_origin_memory ON "user-ann".memory_origin USING btree (memory);

--
-- Name: mention_entity; Type: INDEX; Schema: user-ann; Owner: -
--

CREATE INDEX mention_entity ON "user-ann".mention USING btree (entity, type, entry);

--
-- Name: mention_name; Type: INDEX; Schema: user-ann; Owner: -
--

CREATE INDEX mention_name ON "user-ann".mention USING btree (name);

--
-- Name: relation_object; Type: INDEX; Schema: user-ann; Owner: -
--

CREATE INDEX relation_object ON "user-ann".relation USING btree (object, entry, predicate, subject, confidence);

--
-- Name: relation_subject; Type: INDEX; Schema: user-ann; Owner: -
--

CREATE INDEX relation_subject ON "user-ann".relation USING btree (subject, entry, predicate, object, confidence);

--
-- Name: run_line_loose; Type: INDEX; Schema: user-ann; Owner: -
--

CREATE INDEX run_line_loose ON "user-ann".run_line USING btree (loose) WHERE (loose <> 0);

--
-- Name: run_line_signature; Type: INDEX; Schema: user-ann; Owner: -
--

CREATE INDEX run_line_signature ON "user-ann".run_line USING btree (signature);

--
-- Name: saying_thread; Type: INDEX; Schema: user-ann; Owner: -
--

CREATE INDEX saying_thread ON "user-ann".saying USING btree (thread);

--
-- Name: session_created; Type: INDEX; Schema: user-ann; Owner: -
--

CREATE INDEX session_created ON "user-ann".session USING btree (surface, created_at);

--
-- Name: source_reader; Type: INDEX; Schema: user-ann; Owner: -
--

CREATE INDEX source_reader ON "user-ann".source USING btree (reader);

--
-- Name: trace_name; Type: INDEX; Schema: user-ann; Owner: -
--

CREATE INDEX trace_name ON "user-ann".trace USING btree (name, kind, entry);

--
-- Name: waiting_entry; Type: INDEX; Schema: user-ann; Owner: -
--

CREATE UNIQUE INDEX waiting_entry ON "user-ann".waiting USING btree (entry, space);

--
-- Name: watcher_session; Type: INDEX; Schema: user-ann; Owner: -
--

CREATE INDEX watcher_session ON "user-ann".watcher USING btree (session);

--
-- Name: witness_conversation; Type: INDEX; Schema: user-ann; Owner: -
--

CREATE INDEX witness_conversation ON "user-ann".witness USING btree (conversation);

--
-- Name: witness_source; Type: INDEX; Schema: user-ann; Owner: -
--

CREATE INDEX witness_source ON "user-ann".witness USING btree (source, conversation);

--
-- Name: conversation conversation_level; Type: TRIGGER; Schema: user-ann; Owner: -
--

CREATE TRIGGER conversation_level BEFORE INSERT ON "user-ann".conversation FOR EACH STATEMENT EXECUTE FUNCTION "user-ann".check_level();

--
-- Name: entry entry_shape; Type: TRIGGER; Schema: user-ann; Owner: -
--

CREATE TRIGGER entry_shape AFTER INSERT OR UPDATE ON "user-ann".entry FOR EACH ROW EXECUTE FUNCTION "user-ann".keep_shape();

--
-- Name: source source_level; Type: TRIGGER; Schema: user-ann; Owner: -
--

CREATE TRIGGER source_level BEFORE INSERT OR UPDATE ON "user-ann".source FOR EACH STATEMENT EXECUTE FUNCTION "user-ann".check_level();

--
-- Name: archived archived_pack_fkey; Type: FK CONSTRAINT; Schema: user-ann; Owner: -
--

ALTER TABLE ONLY "user-ann".archived
    ADD CONSTRAINT archived_pack_fkey FOREIGN KEY (pack) REFERENCES "user-ann".archive_pack(n);

--
-- Name: cached_file cached_file_hash_fkey; Type: FK CONSTRAINT; Schema: user-ann; Owner: -
--

ALTER TABLE ONLY "user-ann".cached_file
    ADD CONSTRAINT cached_file_hash_fkey FOREIGN KEY (hash) REFERENCES "user-ann".content(hash);

--
-- Name: checkpoint checkpoint_root_fkey; Type: FK CONSTRAINT; Schema: user-ann; Owner: -
--

ALTER TABLE ONLY "user-ann".checkpoint
    ADD CONSTRAINT checkpoint_root_fkey FOREIGN KEY (root) REFERENCES "user-ann".content(hash);

--
-- Name: command_run command_run_entry_fkey; Type: FK CONSTRAINT; Schema: user-ann; Owner: -
--

ALTER TABLE ONLY "user-ann".command_run
    ADD CONSTRAINT command_run_entry_fkey FOREIGN KEY (entry) REFERENCES "user-ann".entry(n) ON DELETE CASCADE;

--
-- Name: embedding embedding_entry_fkey; Type: FK CONSTRAINT; Schema: user-ann; Owner: -
--

ALTER TABLE ONLY "user-ann".embedding
    ADD CONSTRAINT embedding_entry_fkey FOREIGN KEY (entry) REFERENCES "user-ann".entry(n) ON DELETE CASCADE;

--
-- Name: embedding embedding_space_fkey; Type: FK CONSTRAINT; Schema: user-ann; Owner: -
--

ALTER TABLE ONLY "user-ann".embedding
    ADD CONSTRAINT embedding_space_fkey FOREIGN KEY (space) REFERENCES "user-ann".space(number);

--
-- Name: entry_text entry_text_entry_fkey; Type: FK CONSTRAINT; Schema: user-ann; Owner: -
--

ALTER TABLE ONLY "user-ann".entry_text
    ADD CONSTRAINT entry_text_entry_fkey FOREIGN KEY (entry) REFERENCES "user-ann".entry(n) ON DELETE CASCADE;

--
-- Name: former former_entry_fkey; Type: FK CONSTRAINT; Schema: user-ann; Owner: -
--

ALTER TABLE ONLY "user-ann".former
    ADD CONSTRAINT former_entry_fkey FOREIGN KEY (entry) REFERENCES "user-ann".entry(n) ON DELETE CASCADE;

--
-- Name: graphed graphed_entry_fkey; Type: FK CONSTRAINT; Schema: user-ann; Owner: -
--

ALTER TABLE ONLY "user-ann".graphed
    ADD CONSTRAINT graphed_entry_fkey FOREIGN KEY (entry) REFERENCES "user-ann".entry(n) ON DELETE CASCADE;

--
-- Name: key_text key_text_entry_fkey; Type: FK CONSTRAINT; Schema: user-ann; Owner: -
--

ALTER TABLE ONLY "user-ann".key_text
    ADD CONSTRAINT key_text_entry_fkey FOREIGN KEY (entry) REFERENCES "user-ann".entry(n) ON DELETE CASCADE;

--
-- Name: mention mention_entry_fkey; Type: FK CONSTRAINT; Schema: user-ann; Owner: -
--

ALTER TABLE ONLY "user-ann".mention
    ADD CONSTRAINT mention_entry_fkey FOREIGN KEY (entry) REFERENCES "user-ann".entry(n) ON DELETE CASCADE;

--
-- Name: relation relation_entry_fkey; Type: FK CONSTRAINT; Schema: user-ann; Owner: -
--

ALTER TABLE ONLY "user-ann".relation
    ADD CONSTRAINT relation_entry_fkey FOREIGN KEY (entry) REFERENCES "user-ann".entry(n) ON DELETE CASCADE;

--
-- Name: result result_entry_fkey; Type: FK CONSTRAINT; Schema: user-ann; Owner: -
--

ALTER TABLE ONLY "user-ann".result
    ADD CONSTRAINT result_entry_fkey FOREIGN KEY (entry) REFERENCES "user-ann".entry(n) ON DELETE CASCADE;

--
-- Name: run_line run_line_entry_fkey; Type: FK CONSTRAINT; Schema: user-ann; Owner: -
--

ALTER TABLE ONLY "user-ann".run_line
    ADD CONSTRAINT run_line_entry_fkey FOREIGN KEY (entry) REFERENCES "user-ann".entry(n) ON DELETE CASCADE;

--
-- Name: saying saying_entry_fkey; Type: FK CONSTRAINT; Schema: user-ann; Owner: -
--

ALTER TABLE ONLY "user-ann".saying
    ADD CONSTRAINT saying_entry_fkey FOREIGN KEY (entry) REFERENCES "user-ann".entry(n) ON DELETE CASCADE;

--
-- Name: shape shape_n_fkey; Type: FK CONSTRAINT; Schema: user-ann; Owner: -
--

ALTER TABLE ONLY "user-ann".shape
    ADD CONSTRAINT shape_n_fkey FOREIGN KEY (n) REFERENCES "user-ann".entry(n) ON DELETE CASCADE;

--
-- Name: trace trace_entry_fkey; Type: FK CONSTRAINT; Schema: user-ann; Owner: -
--

ALTER TABLE ONLY "user-ann".trace
    ADD CONSTRAINT trace_entry_fkey FOREIGN KEY (entry) REFERENCES "user-ann".entry(n) ON DELETE CASCADE;

--
-- Name: waiting waiting_entry_fkey; Type: FK CONSTRAINT; Schema: user-ann; Owner: -
--

ALTER TABLE ONLY "user-ann".waiting
    ADD CONSTRAINT waiting_entry_fkey FOREIGN KEY (entry) REFERENCES "user-ann".entry(n) ON DELETE CASCADE;

--
-- Name: waiting waiting_space_fkey; Type: FK CONSTRAINT; Schema: user-ann; Owner: -
--

ALTER TABLE ONLY "user-ann".waiting
    ADD CONSTRAINT waiting_space_fkey FOREIGN KEY (space) REFERENCES "user-ann".space(number);

--
-- Name: witness witness_entry_fkey; Type: FK CONSTRAINT; Schema: user-ann; Owner: -
--

ALTER TABLE ONLY "user-ann".witness
    ADD CONSTRAINT witness_entry_fkey FOREIGN KEY (entry) REFERENCES "user-ann".entry(n) ON DELETE CASCADE;

--
-- PostgreSQL database dump complete
--

