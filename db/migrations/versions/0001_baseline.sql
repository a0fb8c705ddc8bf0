-- The schema of the first release; later migrations change it.
-- Domains: templates, their versions, their servers' tools.
CREATE TABLE domains (
    id UUID NOT NULL,
    name VARCHAR NOT NULL,
    template JSONB NOT NULL,
    version INTEGER DEFAULT 1 NOT NULL,
    is_default BOOLEAN DEFAULT false NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    updated_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    archived BOOLEAN DEFAULT false NOT NULL,
    CONSTRAINT pk_domains PRIMARY KEY (id),
    CONSTRAINT uq_domains_name UNIQUE (name)
);
CREATE UNIQUE INDEX uq_domains_default ON domains (is_default) WHERE is_default;

CREATE TABLE domain_versions (
    domain_id UUID NOT NULL,
    version INTEGER NOT NULL,
    name VARCHAR NOT NULL,
    template JSONB NOT NULL,
    changed_by VARCHAR NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT pk_domain_versions PRIMARY KEY (domain_id, version),
    CONSTRAINT fk_domain_versions_domain_id FOREIGN KEY (domain_id)
        REFERENCES domains (id) ON DELETE CASCADE
);

CREATE TABLE bundled_domains (
    name VARCHAR NOT NULL,
    added_at TIMESTAMP WITH TIME ZONE DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT pk_bundled_domains PRIMARY KEY (name)
);

CREATE TABLE server_tools (
    id UUID NOT NULL,
    domain_id UUID,
    server VARCHAR NOT NULL,
    tool VARCHAR NOT NULL,
    fingerprint VARCHAR NOT NULL,
    description JSONB NOT NULL,
    status VARCHAR NOT NULL,
    decided_by VARCHAR,
    decided_at TIMESTAMP WITH TIME ZONE,
    seen_at TIMESTAMP WITH TIME ZONE DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT pk_server_tools PRIMARY KEY (id),
    CONSTRAINT fk_server_tools_domain_id FOREIGN KEY (domain_id)
        REFERENCES domains (id) ON DELETE SET NULL
);
CREATE UNIQUE INDEX uq_server_tools_version ON server_tools (domain_id, server, tool, fingerprint);

-- A text as searches compare it: compatibility forms are the signs that they stand for, letters have
-- no accents and no case. `backend/conversations/search/folding.py` does the same for snippets.
CREATE FUNCTION fold_text(said text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN normalize(replace(lower(regexp_replace(
    normalize(translate(said, '™℠', '  '), NFKD), '[\u0300-\u036F]+', '', 'g')), 'ß', 'ss'), NFC);

-- Words that are searched for: split at everything that is neither a letter, a mark nor a digit.
-- Symbols are named because some of PostgreSQL's locale providers do not count them as punctuation;
-- invisible characters, and the marks that make a character an emoji, separate words too.
CREATE FUNCTION split_words(said text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN regexp_replace(fold_text(said), '[[:space:][:punct:][:cntrl:]$+<=>^`|~\u00A2-\u00A9\u00AC\u00AE-\u00B1\u00B4\u00B8\u00D7\u00F7\u2010-\u205E\u207A-\u207E\u20A0-\u20CF\u2190-\u245F\u2500-\u2BFF\U0001F000-\U0001FAFF\u00AD\u200B-\u200F\u202A-\u202E\u2060-\u206F\u20E3\uFE00-\uFE0F\uFEFF\uE000]+', ' ', 'g');

-- In scripts whose words have no space between them (Thai to Burmese, Khmer, Chinese, Japanese,
-- Korean), a word is each piece of two signs that follow each other, and the last sign of a run:
-- 東京支店 is 東京, 京支, 支店 and 店. The sign U+E000 marks the end of a run meanwhile.
CREATE FUNCTION cut_words(said text) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
    words text := split_words(said);
    signs text := '\u0E00-\u0EFF\u1000-\u109F\u1780-\u17FF\u3005-\u9FFF\uAC00-\uD7FF\uF900-\uFAFF\uFF66-\uFFDC';
    one text := '([' || signs || '])';
    one_or_end text := '([' || signs || '\uE000])';
BEGIN
    IF words ~ one THEN
        words := regexp_replace(words, one || '+', U&' \\&\E000 ', 'g');
        words := regexp_replace(words, one || one_or_end, '\1\2 \2', 'g');
        words := regexp_replace(words, one || one || one_or_end, '\1\2 \2\3', 'g');
        words := regexp_replace(replace(words, U&'\E000', ''), ' +', ' ', 'g');
    END IF;
    RETURN btrim(words);
END $$;

-- The words with their places. PostgreSQL takes none longer, and no place beyond the last one here.
CREATE FUNCTION search_words(said text) RETURNS tsvector
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN (
    SELECT coalesce(string_agg('''' || left(word, 500) || ''':' || least(place, 16383), ' '), '')
    FROM string_to_table(cut_words(said), ' ') WITH ORDINALITY AS cut (word, place)
    WHERE word <> '')::tsvector;

-- Conversations and their two views: what people see, and what the model reads.
CREATE TABLE conversations (
    id UUID NOT NULL,
    domain_id UUID,
    owner_id VARCHAR NOT NULL,
    team VARCHAR,
    organisation VARCHAR,
    title VARCHAR DEFAULT '' NOT NULL,
    search TSVECTOR GENERATED ALWAYS AS (search_words(title)) STORED NOT NULL,
    domain_name VARCHAR NOT NULL,
    image_id UUID NOT NULL,
    image JSONB NOT NULL,
    version INTEGER DEFAULT 1 NOT NULL,
    message_count INTEGER DEFAULT 0 NOT NULL,
    pinned BOOLEAN DEFAULT false NOT NULL,
    archived BOOLEAN DEFAULT false NOT NULL,
    metadata JSONB DEFAULT '{}' NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    updated_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    domain_version INTEGER,
    branch INTEGER DEFAULT 1 NOT NULL,
    path JSONB,
    model VARCHAR,
    parent_id UUID,
    deletes_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT pk_conversations PRIMARY KEY (id),
    CONSTRAINT fk_conversations_domain_id FOREIGN KEY (domain_id)
        REFERENCES domains (id) ON DELETE SET NULL,
    CONSTRAINT fk_conversations_parent_id FOREIGN KEY (parent_id)
        REFERENCES conversations (id) ON DELETE CASCADE
) WITH (toast_tuple_target = 128, fillfactor = 80);
CREATE INDEX ix_conversations_all ON conversations (updated_at DESC, id DESC);
CREATE INDEX ix_conversations_deletes_at ON conversations (deletes_at)
    WHERE deletes_at IS NOT NULL;
CREATE INDEX ix_conversations_owner ON conversations (owner_id, updated_at DESC, id DESC);
CREATE INDEX ix_conversations_parent ON conversations (parent_id) WHERE parent_id IS NOT NULL;
CREATE INDEX ix_conversations_search ON conversations USING gin (search);

CREATE TABLE display_messages (
    conversation_id UUID NOT NULL,
    position INTEGER NOT NULL,
    id UUID DEFAULT gen_random_uuid() NOT NULL,
    turn_id UUID,
    message_type VARCHAR NOT NULL,
    content_type VARCHAR NOT NULL,
    content JSONB NOT NULL,
    sequence INTEGER DEFAULT 0 NOT NULL,
    status VARCHAR NOT NULL,
    agent VARCHAR,
    metadata JSONB DEFAULT '{}' NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    CONSTRAINT pk_display_messages PRIMARY KEY (conversation_id, position),
    CONSTRAINT fk_display_messages_conversation_id FOREIGN KEY (conversation_id)
        REFERENCES conversations (id) ON DELETE CASCADE
) WITH (toast_tuple_target = 512, fillfactor = 90);

CREATE TABLE agent_state_snapshots (
    conversation_id UUID NOT NULL,
    state_data JSONB NOT NULL,
    version BIGINT DEFAULT 0 NOT NULL,
    CONSTRAINT pk_agent_state_snapshots PRIMARY KEY (conversation_id),
    CONSTRAINT fk_agent_state_snapshots_conversation_id FOREIGN KEY (conversation_id)
        REFERENCES conversations (id) ON DELETE CASCADE
);

CREATE TABLE agent_state_deltas (
    conversation_id UUID NOT NULL,
    version BIGINT NOT NULL,
    delta JSONB NOT NULL,
    calls JSONB,
    CONSTRAINT pk_agent_state_deltas PRIMARY KEY (conversation_id, version),
    CONSTRAINT fk_agent_state_deltas_conversation_id FOREIGN KEY (conversation_id)
        REFERENCES conversations (id) ON DELETE CASCADE
);

CREATE TABLE sent_contents (
    conversation_id UUID NOT NULL,
    hash VARCHAR NOT NULL,
    content JSONB NOT NULL,
    CONSTRAINT pk_sent_contents PRIMARY KEY (conversation_id, hash),
    CONSTRAINT fk_sent_contents_conversation_id FOREIGN KEY (conversation_id)
        REFERENCES conversations (id) ON DELETE CASCADE
);

CREATE TABLE branches (
    conversation_id UUID NOT NULL,
    number INTEGER NOT NULL,
    path JSONB NOT NULL,
    state_version BIGINT NOT NULL,
    CONSTRAINT pk_branches PRIMARY KEY (conversation_id, number),
    CONSTRAINT fk_branches_conversation_id FOREIGN KEY (conversation_id)
        REFERENCES conversations (id) ON DELETE CASCADE
);

CREATE TABLE session_links (
    id UUID NOT NULL,
    conversation_id UUID NOT NULL,
    token_hash VARCHAR NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT clock_timestamp() NOT NULL,
    revoked_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT pk_session_links PRIMARY KEY (id),
    CONSTRAINT fk_session_links_conversation_id FOREIGN KEY (conversation_id)
        REFERENCES conversations (id) ON DELETE CASCADE,
    CONSTRAINT uq_session_links_token_hash UNIQUE (token_hash)
);
CREATE INDEX ix_session_links_conversation ON session_links (conversation_id);

CREATE TABLE tool_results (
    id UUID NOT NULL,
    conversation_id UUID NOT NULL,
    result JSONB NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    CONSTRAINT pk_tool_results PRIMARY KEY (id),
    CONSTRAINT fk_tool_results_conversation_id FOREIGN KEY (conversation_id)
        REFERENCES conversations (id) ON DELETE CASCADE
);
CREATE INDEX ix_tool_results_conversation_id ON tool_results (conversation_id);

-- `agent_states` returns each complete state, for host applications to read. Stored are snapshots
-- and deltas whose messages refer to the display messages that hold their texts: the rules of
-- `backend.conversations.state.delta` and `shown`, in SQL.
CREATE FUNCTION agent_state_text(conversation uuid, value jsonb) RETURNS jsonb
LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN jsonb_typeof(value) = 'object' AND value ? '$shown' THEN (
        SELECT to_jsonb(coalesce(content ->> 'text', content ->> 'content'))
        FROM display_messages
        WHERE conversation_id = conversation AND position = (value ->> '$shown')::int
    ) ELSE value END
$$;

CREATE FUNCTION agent_state_message(conversation uuid, message jsonb) RETURNS jsonb
LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN said #> '{additional_kwargs,reasoning_content}' ? '$shown' THEN jsonb_set(
        said,
        '{additional_kwargs,reasoning_content}',
        agent_state_text(conversation, said #> '{additional_kwargs,reasoning_content}')
    ) ELSE said END
    FROM (SELECT CASE WHEN message -> 'content' ? '$shown' THEN jsonb_set(
        message, '{content}', agent_state_text(conversation, message -> 'content')
    ) ELSE message END AS said) AS with_content
$$;

CREATE FUNCTION agent_state(conversation uuid) RETURNS jsonb
LANGUAGE plpgsql STABLE AS $$
DECLARE
    snapshot record;
    step record;
    state jsonb;
    messages jsonb;
BEGIN
    SELECT state_data, version INTO snapshot
        FROM agent_state_snapshots WHERE conversation_id = conversation;
    state := snapshot.state_data;
    messages := coalesce(state -> 'messages', '[]');
    FOR step IN
        SELECT delta FROM agent_state_deltas
        WHERE conversation_id = conversation AND version > snapshot.version ORDER BY version
    LOOP
        IF step.delta ?| ARRAY['drop', 'keep'] THEN
            SELECT coalesce(jsonb_agg(message ORDER BY place), '[]') INTO messages
                FROM jsonb_array_elements(messages) WITH ORDINALITY AS old (message, place)
                WHERE place > coalesce((step.delta ->> 'drop')::int, 0)
                AND place <= coalesce((step.delta ->> 'drop')::int, 0)
                    + coalesce((step.delta ->> 'keep')::int, jsonb_array_length(messages));
        END IF;
        messages := coalesce(step.delta -> 'prepend', '[]') || messages
            || coalesce(step.delta -> 'append', '[]');
        state := (state || coalesce(step.delta -> 'set', '{}'))
            - ARRAY(SELECT jsonb_array_elements_text(coalesce(step.delta -> 'unset', '[]')));
    END LOOP;
    SELECT coalesce(jsonb_agg(agent_state_message(conversation, message) ORDER BY place), '[]')
        INTO messages
        FROM jsonb_array_elements(messages) WITH ORDINALITY AS kept (message, place);
    RETURN '{"todos": [], "metadata": {}, "payload": {}, "interrupt": null}'::jsonb || state
        || jsonb_build_object('messages', messages);
END
$$;

CREATE VIEW agent_states AS
SELECT
    conversation_id,
    agent_state(conversation_id) AS state_data,
    coalesce((
        SELECT max(version) FROM agent_state_deltas AS deltas
        WHERE deltas.conversation_id = snapshots.conversation_id
    ), version) AS version
FROM agent_state_snapshots AS snapshots;

-- Search in messages: the words that people see in each. A trigger adds the entries.
CREATE UNLOGGED TABLE search_entries (
    conversation_id UUID NOT NULL,
    position INTEGER NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    words TSVECTOR NOT NULL,
    CONSTRAINT pk_search_entries PRIMARY KEY (conversation_id, position),
    CONSTRAINT fk_search_entries_conversation_id FOREIGN KEY (conversation_id)
        REFERENCES conversations (id) ON DELETE CASCADE
);
CREATE INDEX ix_search_entries_words ON search_entries USING gin (words)
    WITH (gin_pending_list_limit = 256);

CREATE UNLOGGED TABLE search_index (
    id INTEGER NOT NULL,
    is_complete BOOLEAN NOT NULL,
    conversation_id UUID,
    position INTEGER,
    CONSTRAINT pk_search_index PRIMARY KEY (id)
);

INSERT INTO search_index (id, is_complete) VALUES (1, true);

-- One function provides the text for the index and for snippets. Branches of simple expressions cost
-- a few microseconds. A tool's arguments contribute their texts and numbers: `{last}` returns only
-- the leaves, without copying their containers.
CREATE FUNCTION message_text(content_type text, content jsonb) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
    IF content_type IN ('text', 'notice') THEN
        RETURN left(content ->> 'text', 16000);
    ELSIF content_type = 'tool_result' THEN
        RETURN concat_ws(E'\n', content ->> 'name', left(content ->> 'content', 4000));
    ELSIF content_type = 'tool_call' THEN
        RETURN concat_ws(E'\n', content ->> 'name', left((
            SELECT string_agg(value #>> '{}', ' ')
            FROM jsonb_path_query(
                jsonb_build_array(content -> 'arguments'), 'strict $.**{last}') AS value
            WHERE jsonb_typeof(value) IN ('string', 'number')), 4000));
    ELSIF content_type = 'error' THEN
        RETURN left(concat_ws(E'\n', content ->> 'title', content ->> 'detail'), 4000);
    ELSIF content_type = 'todos' THEN
        RETURN left((
            SELECT string_agg(value #>> '{}', E'\n')
            FROM jsonb_path_query(content, 'lax $.todos[*].content') AS value), 4000);
    ELSIF content_type IN ('image', 'file', 'artifact') THEN
        RETURN left(concat_ws(E'\n', content ->> 'name', content ->> 'title'), 4000);
    END IF;
    RETURN NULL;
END $$;

-- The owner is a word too, which no text can contain: a search by one owner reads few entries of
-- others, however common its words are. So is the kind: a search lists what people and agents said
-- before the calls that led there.
CREATE FUNCTION entry_words(owner_id text, content_type text, said text) RETURNS tsvector
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN search_words(said)
    || array_to_tsvector(ARRAY['owner:' || owner_id, 'kind:' || content_type]);

CREATE FUNCTION index_messages() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO search_entries (conversation_id, position, created_at, words)
    SELECT conversation_id, position, said.created_at, entry_words(owner_id, content_type, text)
    FROM added AS said
    JOIN conversations ON conversations.id = conversation_id,
    message_text(content_type, content) AS text
    WHERE text <> '';
    RETURN NULL;
END $$;

CREATE TRIGGER index_messages AFTER INSERT ON display_messages
REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION index_messages();

-- Turns, the calls of their tools, and what waits for people.
CREATE TABLE turns (
    id UUID NOT NULL,
    number BIGINT GENERATED ALWAYS AS IDENTITY,
    conversation_id UUID NOT NULL,
    owner_id VARCHAR NOT NULL,
    agent VARCHAR NOT NULL,
    message VARCHAR NOT NULL,
    idempotency_key VARCHAR,
    body_hash VARCHAR,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT clock_timestamp() NOT NULL,
    message_position INTEGER,
    started_at TIMESTAMP WITH TIME ZONE,
    worker VARCHAR,
    attempt INTEGER DEFAULT 0 NOT NULL,
    losses INTEGER DEFAULT 0 NOT NULL,
    status VARCHAR DEFAULT 'queued' NOT NULL,
    stop_requested BOOLEAN DEFAULT false NOT NULL,
    lease_until TIMESTAMP WITH TIME ZONE,
    enqueued_at TIMESTAMP WITH TIME ZONE,
    steps INTEGER DEFAULT 0 NOT NULL,
    usage JSONB DEFAULT '{}' NOT NULL,
    error JSONB,
    finished_at TIMESTAMP WITH TIME ZONE,
    heartbeat_at TIMESTAMP WITH TIME ZONE,
    stop_requested_at TIMESTAMP WITH TIME ZONE,
    model_retry_at TIMESTAMP WITH TIME ZONE,
    model_retry_reason VARCHAR,
    model_retries INTEGER DEFAULT 0 NOT NULL,
    lost_seconds DOUBLE PRECISION DEFAULT '0' NOT NULL,
    unknown_outcomes INTEGER DEFAULT 0 NOT NULL,
    state_version BIGINT,
    fork_of UUID,
    decided_at TIMESTAMP WITH TIME ZONE,
    losses_in_row INTEGER DEFAULT 0 NOT NULL,
    lost_at_step INTEGER,
    model VARCHAR,
    route JSONB,
    role VARCHAR,
    waits_for VARCHAR,
    CONSTRAINT pk_turns PRIMARY KEY (id),
    CONSTRAINT fk_turns_conversation_id FOREIGN KEY (conversation_id)
        REFERENCES conversations (id) ON DELETE CASCADE
) WITH (fillfactor = 80);
CREATE INDEX ix_turns_conversation ON turns (conversation_id, number);
CREATE INDEX ix_turns_created ON turns USING brin (created_at)
    WITH (pages_per_range = 16, autosummarize = on);
CREATE INDEX ix_turns_failed ON turns (number) WHERE status = 'failed';
CREATE INDEX ix_turns_forks ON turns (conversation_id, number) WHERE fork_of IS NOT NULL;
CREATE INDEX ix_turns_unfinished ON turns (conversation_id, number)
    WHERE status IN ('queued', 'running', 'waiting');
CREATE UNIQUE INDEX uq_turns_active ON turns (conversation_id)
    WHERE status IN ('running', 'waiting');
CREATE UNIQUE INDEX uq_turns_idempotency_key ON turns (owner_id, idempotency_key)
    WHERE idempotency_key IS NOT NULL;

CREATE TABLE tool_journal (
    turn_id UUID NOT NULL,
    message_id VARCHAR NOT NULL,
    number INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    name VARCHAR NOT NULL,
    effect VARCHAR NOT NULL,
    result JSONB,
    started_at TIMESTAMP WITH TIME ZONE DEFAULT clock_timestamp() NOT NULL,
    finished_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT pk_tool_journal PRIMARY KEY (turn_id, message_id, number),
    CONSTRAINT fk_tool_journal_turn_id FOREIGN KEY (turn_id)
        REFERENCES turns (id) ON DELETE CASCADE
);

CREATE TABLE approvals (
    id UUID NOT NULL,
    conversation_id UUID NOT NULL,
    turn_id UUID NOT NULL,
    message_id VARCHAR NOT NULL,
    number INTEGER NOT NULL,
    call_id VARCHAR NOT NULL,
    tool VARCHAR NOT NULL,
    arguments JSONB NOT NULL,
    arguments_hash VARCHAR NOT NULL,
    request JSONB DEFAULT '{}' NOT NULL,
    position INTEGER NOT NULL,
    status VARCHAR DEFAULT 'pending' NOT NULL,
    decision JSONB,
    decided_by VARCHAR,
    decided_at TIMESTAMP WITH TIME ZONE,
    expires_at TIMESTAMP WITH TIME ZONE,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT pk_approvals PRIMARY KEY (id),
    CONSTRAINT fk_approvals_conversation_id FOREIGN KEY (conversation_id)
        REFERENCES conversations (id) ON DELETE CASCADE,
    CONSTRAINT fk_approvals_turn_id FOREIGN KEY (turn_id)
        REFERENCES turns (id) ON DELETE CASCADE
);
CREATE INDEX ix_approvals_conversation ON approvals (conversation_id);
CREATE INDEX ix_approvals_pending ON approvals (created_at) WHERE status = 'pending';
CREATE UNIQUE INDEX uq_approvals_call ON approvals (turn_id, message_id, number);

CREATE TABLE spent_keys (
    owner_id VARCHAR NOT NULL,
    idempotency_key VARCHAR NOT NULL,
    spent_at TIMESTAMP WITH TIME ZONE DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT pk_spent_keys PRIMARY KEY (owner_id, idempotency_key)
);

-- Plans and their tasks.
CREATE TABLE plans (
    id UUID NOT NULL,
    conversation_id UUID NOT NULL,
    turn_id UUID NOT NULL,
    message_id VARCHAR NOT NULL,
    number INTEGER NOT NULL,
    call_id VARCHAR NOT NULL,
    kind VARCHAR DEFAULT 'plan' NOT NULL,
    name VARCHAR NOT NULL,
    reasoning VARCHAR DEFAULT '' NOT NULL,
    status VARCHAR DEFAULT 'running' NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT clock_timestamp() NOT NULL,
    finished_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT pk_plans PRIMARY KEY (id),
    CONSTRAINT fk_plans_conversation_id FOREIGN KEY (conversation_id)
        REFERENCES conversations (id) ON DELETE CASCADE,
    CONSTRAINT fk_plans_turn_id FOREIGN KEY (turn_id)
        REFERENCES turns (id) ON DELETE CASCADE
);
CREATE INDEX ix_plans_conversation ON plans (conversation_id);
CREATE INDEX ix_plans_created ON plans (created_at, id);
CREATE INDEX ix_plans_unfinished ON plans (created_at) WHERE status IN ('running', 'waiting');
CREATE UNIQUE INDEX uq_plans_call ON plans (turn_id, message_id, number);

CREATE TABLE tasks (
    id UUID NOT NULL,
    plan_id UUID NOT NULL,
    conversation_id UUID NOT NULL,
    place INTEGER NOT NULL,
    temp_id VARCHAR NOT NULL,
    name VARCHAR NOT NULL,
    description VARCHAR NOT NULL,
    agent VARCHAR NOT NULL,
    depends_on JSONB DEFAULT '[]' NOT NULL,
    input JSONB,
    on_failure VARCHAR NOT NULL,
    status VARCHAR DEFAULT 'pending' NOT NULL,
    tries INTEGER DEFAULT 0 NOT NULL,
    session_id UUID,
    turn_id UUID,
    output JSONB,
    error JSONB,
    started_at TIMESTAMP WITH TIME ZONE,
    finished_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT pk_tasks PRIMARY KEY (id),
    CONSTRAINT fk_tasks_plan_id FOREIGN KEY (plan_id)
        REFERENCES plans (id) ON DELETE CASCADE,
    CONSTRAINT fk_tasks_conversation_id FOREIGN KEY (conversation_id)
        REFERENCES conversations (id) ON DELETE CASCADE
);
CREATE INDEX ix_tasks_conversation ON tasks (conversation_id);
CREATE INDEX ix_tasks_running ON tasks (plan_id) WHERE status = 'running';
CREATE UNIQUE INDEX uq_tasks_session ON tasks (session_id) WHERE session_id IS NOT NULL;
CREATE UNIQUE INDEX uq_tasks_temp_id ON tasks (plan_id, temp_id);

-- Artifacts and uploaded files. However a row is deleted (alone, with its conversation, by a host
-- application), its bytes follow.
CREATE TABLE artifacts (
    id UUID NOT NULL,
    conversation_id UUID NOT NULL,
    kind VARCHAR NOT NULL,
    title VARCHAR NOT NULL,
    version INTEGER DEFAULT 1 NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT pk_artifacts PRIMARY KEY (id),
    CONSTRAINT fk_artifacts_conversation_id FOREIGN KEY (conversation_id)
        REFERENCES conversations (id) ON DELETE CASCADE
);
CREATE INDEX ix_artifacts_conversation ON artifacts (conversation_id, created_at);

CREATE TABLE artifact_versions (
    artifact_id UUID NOT NULL,
    version INTEGER NOT NULL,
    title VARCHAR NOT NULL,
    agent VARCHAR,
    turn_id UUID,
    message_id VARCHAR,
    hash VARCHAR NOT NULL,
    media_type VARCHAR NOT NULL,
    size BIGINT NOT NULL,
    preview JSONB DEFAULT '{}' NOT NULL,
    origin JSONB DEFAULT '{}' NOT NULL,
    content BYTEA,
    key VARCHAR,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT pk_artifact_versions PRIMARY KEY (artifact_id, version),
    CONSTRAINT fk_artifact_versions_artifact_id FOREIGN KEY (artifact_id)
        REFERENCES artifacts (id) ON DELETE CASCADE
) WITH (toast_tuple_target = 512);
CREATE INDEX ix_artifact_versions_turn ON artifact_versions (turn_id);

CREATE TABLE erased_contents (
    key VARCHAR NOT NULL,
    erased_at TIMESTAMP WITH TIME ZONE DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT pk_erased_contents PRIMARY KEY (key)
);

CREATE FUNCTION note_erased_content() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO erased_contents (key) VALUES (OLD.key) ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$;

CREATE TRIGGER artifact_versions_erased AFTER DELETE ON artifact_versions
FOR EACH ROW WHEN (OLD.key IS NOT NULL) EXECUTE FUNCTION note_erased_content();

CREATE TABLE files (
    id UUID NOT NULL,
    owner_id VARCHAR NOT NULL,
    conversation_id UUID,
    name VARCHAR NOT NULL,
    source VARCHAR NOT NULL,
    size BIGINT NOT NULL,
    sha256 VARCHAR NOT NULL,
    format VARCHAR NOT NULL,
    kind VARCHAR NOT NULL,
    understood JSONB,
    corrections JSONB DEFAULT '{}' NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT clock_timestamp() NOT NULL,
    replaced_upload_of TIMESTAMP WITH TIME ZONE,
    CONSTRAINT pk_files PRIMARY KEY (id),
    CONSTRAINT fk_files_conversation_id FOREIGN KEY (conversation_id)
        REFERENCES conversations (id) ON DELETE CASCADE
);
CREATE INDEX ix_files_conversation ON files (conversation_id);
CREATE INDEX ix_files_owner ON files (owner_id, created_at DESC, id DESC);

CREATE TABLE erased_files (
    id UUID NOT NULL,
    erased_at TIMESTAMP WITH TIME ZONE DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT pk_erased_files PRIMARY KEY (id)
);

CREATE FUNCTION note_erased_file() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO erased_files (id) VALUES (OLD.id) ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$;

CREATE TRIGGER files_erased AFTER DELETE ON files
FOR EACH ROW EXECUTE FUNCTION note_erased_file();

-- Models, usage, and who changed what.
CREATE TABLE model_connections (
    number BIGINT GENERATED ALWAYS AS IDENTITY,
    base_url VARCHAR NOT NULL,
    sealed_key VARCHAR,
    default_model VARCHAR NOT NULL,
    saved_by VARCHAR NOT NULL,
    saved_at TIMESTAMP WITH TIME ZONE DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT pk_model_connections PRIMARY KEY (number)
);

CREATE TABLE usage_days (
    day DATE NOT NULL,
    owner_id VARCHAR NOT NULL,
    domain_id UUID NOT NULL,
    domain_name VARCHAR NOT NULL,
    model VARCHAR NOT NULL,
    turns INTEGER DEFAULT 0 NOT NULL,
    model_calls INTEGER DEFAULT 0 NOT NULL,
    input_tokens BIGINT DEFAULT 0 NOT NULL,
    cached_tokens BIGINT DEFAULT 0 NOT NULL,
    output_tokens BIGINT DEFAULT 0 NOT NULL,
    reasoning_tokens BIGINT DEFAULT 0 NOT NULL,
    cost DOUBLE PRECISION DEFAULT '0' NOT NULL,
    CONSTRAINT pk_usage_days PRIMARY KEY (day, owner_id, domain_id, domain_name, model)
) WITH (fillfactor = 50);
CREATE INDEX ix_usage_days_domain ON usage_days (domain_id, day);

CREATE TABLE audit_events (
    id BIGINT GENERATED ALWAYS AS IDENTITY,
    at TIMESTAMP WITH TIME ZONE DEFAULT clock_timestamp() NOT NULL,
    actor VARCHAR NOT NULL,
    action VARCHAR NOT NULL,
    subject VARCHAR NOT NULL,
    subject_id VARCHAR NOT NULL,
    details JSONB DEFAULT '{}' NOT NULL,
    CONSTRAINT pk_audit_events PRIMARY KEY (id)
);
CREATE INDEX ix_audit_events_subject ON audit_events (subject, subject_id, id);
