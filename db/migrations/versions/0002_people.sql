-- People, service accounts and teams. `users.id` is what owns conversations, turns and files.
-- `role_provider`: the identity provider whose groups gave the role; `given_role` is what an
-- administrator gave, and applies again when they no longer do.
CREATE TABLE users (
    id VARCHAR NOT NULL,
    name VARCHAR NOT NULL,
    login VARCHAR,
    email VARCHAR,
    role VARCHAR DEFAULT 'member' NOT NULL,
    role_provider VARCHAR,
    given_role VARCHAR,
    organisation VARCHAR,
    is_service BOOLEAN DEFAULT false NOT NULL,
    password_hash VARCHAR,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT clock_timestamp() NOT NULL,
    seen_at TIMESTAMP WITH TIME ZONE,
    disabled_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT pk_users PRIMARY KEY (id),
    CONSTRAINT uq_users_login UNIQUE (login)
);
CREATE INDEX ix_users_organisation ON users (organisation) WHERE organisation IS NOT NULL;

CREATE TABLE identities (
    issuer VARCHAR NOT NULL,
    subject VARCHAR NOT NULL,
    user_id VARCHAR NOT NULL,
    CONSTRAINT pk_identities PRIMARY KEY (issuer, subject),
    CONSTRAINT fk_identities_user_id FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE
);
CREATE INDEX ix_identities_user_id ON identities (user_id);

CREATE TABLE teams (
    id VARCHAR NOT NULL,
    name VARCHAR NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT pk_teams PRIMARY KEY (id),
    CONSTRAINT uq_teams_name UNIQUE (name)
);

-- `provider`: the identity provider whose groups made a person a member, and may end that; null
-- where an administrator did.
CREATE TABLE team_members (
    team_id VARCHAR NOT NULL,
    user_id VARCHAR NOT NULL,
    provider VARCHAR,
    CONSTRAINT pk_team_members PRIMARY KEY (team_id, user_id),
    CONSTRAINT fk_team_members_team_id FOREIGN KEY (team_id) REFERENCES teams (id) ON DELETE CASCADE,
    CONSTRAINT fk_team_members_user_id FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE
);
CREATE INDEX ix_team_members_user_id ON team_members (user_id);

-- Rights: what holds is the union of a person's rows, of their teams' and of everyone's.
CREATE TABLE grants (
    resource_type VARCHAR NOT NULL,
    resource_id VARCHAR NOT NULL,
    principal_type VARCHAR NOT NULL,
    principal_id VARCHAR NOT NULL,
    "right" VARCHAR NOT NULL,
    granted_by VARCHAR NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT pk_grants PRIMARY KEY (resource_type, resource_id, principal_type, principal_id, "right")
);
CREATE INDEX ix_grants_principal ON grants (principal_type, principal_id, resource_type);

-- Who reads somebody else's session, and why; their right to do so ends.
CREATE TABLE reviews (
    id UUID NOT NULL,
    conversation_id UUID NOT NULL,
    reviewer VARCHAR NOT NULL,
    reason VARCHAR NOT NULL,
    begun_at TIMESTAMP WITH TIME ZONE DEFAULT clock_timestamp() NOT NULL,
    ends_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_reviews PRIMARY KEY (id),
    CONSTRAINT fk_reviews_conversation_id FOREIGN KEY (conversation_id)
        REFERENCES conversations (id) ON DELETE CASCADE
);
CREATE INDEX ix_reviews_conversation_id ON reviews (conversation_id, begun_at DESC);
CREATE INDEX ix_reviews_reviewer ON reviews (reviewer, ends_at);

-- Ways in. Of every token only its digest is stored.
CREATE TABLE sign_ins (
    id UUID NOT NULL,
    token_hash VARCHAR NOT NULL,
    user_id VARCHAR NOT NULL,
    way VARCHAR NOT NULL,
    address VARCHAR DEFAULT '' NOT NULL,
    browser VARCHAR DEFAULT '' NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT clock_timestamp() NOT NULL,
    used_at TIMESTAMP WITH TIME ZONE DEFAULT clock_timestamp() NOT NULL,
    ends_at TIMESTAMP WITH TIME ZONE NOT NULL,
    ended_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT pk_sign_ins PRIMARY KEY (id),
    CONSTRAINT fk_sign_ins_user_id FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE,
    CONSTRAINT uq_sign_ins_token_hash UNIQUE (token_hash)
);
CREATE INDEX ix_sign_ins_user_id ON sign_ins (user_id, created_at DESC);
CREATE INDEX ix_sign_ins_ends_at ON sign_ins (ends_at);

CREATE TABLE api_tokens (
    id UUID NOT NULL,
    user_id VARCHAR NOT NULL,
    name VARCHAR NOT NULL,
    token_hash VARCHAR NOT NULL,
    allows VARCHAR NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT clock_timestamp() NOT NULL,
    expires_at TIMESTAMP WITH TIME ZONE,
    used_at TIMESTAMP WITH TIME ZONE,
    revoked_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT pk_api_tokens PRIMARY KEY (id),
    CONSTRAINT fk_api_tokens_user_id FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE,
    CONSTRAINT uq_api_tokens_token_hash UNIQUE (token_hash)
);
CREATE INDEX ix_api_tokens_user_id ON api_tokens (user_id, created_at DESC);

-- One-time links: to make the first administrator, to accept an invitation, to reset a password.
CREATE TABLE one_time_links (
    token_hash VARCHAR NOT NULL,
    purpose VARCHAR NOT NULL,
    user_id VARCHAR,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT clock_timestamp() NOT NULL,
    expires_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_one_time_links PRIMARY KEY (token_hash),
    CONSTRAINT fk_one_time_links_user_id FOREIGN KEY (user_id)
        REFERENCES users (id) ON DELETE CASCADE
);
CREATE INDEX ix_one_time_links_user_id ON one_time_links (user_id);

-- Failed sign-ins, by account and by address: they slow down the next ones.
CREATE TABLE failed_sign_ins (
    id BIGINT GENERATED ALWAYS AS IDENTITY,
    subject VARCHAR NOT NULL,
    at TIMESTAMP WITH TIME ZONE DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT pk_failed_sign_ins PRIMARY KEY (id)
);
CREATE INDEX ix_failed_sign_ins_subject ON failed_sign_ins (subject, at);

-- OpenID Connect: providers that are set on a page, and requests that wait for their answer.
CREATE TABLE identity_providers (
    id VARCHAR NOT NULL,
    name VARCHAR NOT NULL,
    issuer VARCHAR NOT NULL,
    client_id VARCHAR NOT NULL,
    client_secret VARCHAR NOT NULL,
    scopes VARCHAR NOT NULL,
    groups_claim VARCHAR,
    groups JSONB DEFAULT '{}' NOT NULL,
    admits_new BOOLEAN DEFAULT true NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT pk_identity_providers PRIMARY KEY (id)
);

CREATE TABLE oidc_requests (
    state_hash VARCHAR NOT NULL,
    provider_id VARCHAR NOT NULL,
    issuer VARCHAR NOT NULL,
    nonce VARCHAR NOT NULL,
    verifier VARCHAR NOT NULL,
    browser_hash VARCHAR NOT NULL,
    link_hash VARCHAR,
    expires_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_oidc_requests PRIMARY KEY (state_hash)
);
CREATE INDEX ix_oidc_requests_expires_at ON oidc_requests (expires_at);

-- A day's budget of a person or a team; without a row, the settings hold.
CREATE TABLE budgets (
    principal_type VARCHAR NOT NULL,
    principal_id VARCHAR NOT NULL,
    tokens BIGINT,
    cost DOUBLE PRECISION,
    CONSTRAINT pk_budgets PRIMARY KEY (principal_type, principal_id)
);

-- Usage of a team's sessions counts for the team as well.
ALTER TABLE usage_days ADD COLUMN team VARCHAR DEFAULT '' NOT NULL;
ALTER TABLE usage_days DROP CONSTRAINT pk_usage_days;
ALTER TABLE usage_days ADD CONSTRAINT pk_usage_days
    PRIMARY KEY (day, owner_id, team, domain_id, domain_name, model);

-- Prices that are set on a page, per million tokens; they come before those of the environment.
CREATE TABLE model_prices (
    model VARCHAR NOT NULL,
    input DOUBLE PRECISION NOT NULL,
    cached DOUBLE PRECISION,
    output DOUBLE PRECISION NOT NULL,
    saved_by VARCHAR NOT NULL,
    saved_at TIMESTAMP WITH TIME ZONE DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT pk_model_prices PRIMARY KEY (model)
);

-- What a person thinks of the answer of a turn.
CREATE TABLE feedback (
    turn_id UUID NOT NULL,
    user_id VARCHAR NOT NULL,
    conversation_id UUID NOT NULL,
    rating VARCHAR NOT NULL,
    comment VARCHAR DEFAULT '' NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT pk_feedback PRIMARY KEY (turn_id, user_id),
    CONSTRAINT fk_feedback_turn_id FOREIGN KEY (turn_id) REFERENCES turns (id) ON DELETE CASCADE,
    CONSTRAINT fk_feedback_conversation_id FOREIGN KEY (conversation_id)
        REFERENCES conversations (id) ON DELETE CASCADE
);
CREATE INDEX ix_feedback_conversation_id ON feedback (conversation_id);

ALTER TABLE session_links ADD COLUMN expires_at TIMESTAMP WITH TIME ZONE;
ALTER TABLE session_links ADD COLUMN made_by VARCHAR;
UPDATE session_links SET made_by = owner_id FROM conversations WHERE conversations.id = conversation_id;
ALTER TABLE session_links ALTER COLUMN made_by SET NOT NULL;

-- A conversation belongs to its team where it has one, else to its owner; an organisation reaches
-- what its members own.
ALTER TABLE conversations DROP COLUMN organisation;
CREATE INDEX ix_conversations_team ON conversations (team, updated_at DESC, id DESC)
    WHERE team IS NOT NULL;

CREATE INDEX ix_audit_events_actor ON audit_events (actor, id);
CREATE INDEX ix_audit_events_action ON audit_events (action, id);
CREATE INDEX ix_audit_events_at ON audit_events (at);

-- Not even the software itself changes what was recorded.
CREATE FUNCTION refuse_change_of_audit() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'audit events are only ever added';
END
$$;
CREATE TRIGGER audit_events_are_only_added BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_events
FOR EACH STATEMENT EXECUTE FUNCTION refuse_change_of_audit();

INSERT INTO users (id, name, role) VALUES ('local', 'local', 'admin');

-- The principals of a conversation as words of the search: its team, else its owner.
DROP FUNCTION entry_words(text, text, text);

CREATE FUNCTION holder_word(owner_id text, team text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN coalesce('team:' || team, 'owner:' || owner_id);

CREATE FUNCTION entry_words(holder text, content_type text, said text) RETURNS tsvector
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN search_words(said) || array_to_tsvector(ARRAY[holder, 'kind:' || content_type]);

CREATE OR REPLACE FUNCTION index_messages() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO search_entries (conversation_id, position, created_at, words)
    SELECT conversation_id, position, said.created_at,
        entry_words(holder_word(owner_id, team), content_type, text)
    FROM added AS said
    JOIN conversations ON conversations.id = conversation_id,
    message_text(content_type, content) AS text
    WHERE text <> '';
    RETURN NULL;
END $$;

-- The entries of a conversation that is given to somebody else go with it.
CREATE FUNCTION give_entries() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    UPDATE search_entries
    SET words = ts_delete(words, holder_word(OLD.owner_id, OLD.team))
        || array_to_tsvector(ARRAY[holder_word(NEW.owner_id, NEW.team)])
    WHERE conversation_id = NEW.id;
    RETURN NULL;
END $$;

CREATE TRIGGER give_entries AFTER UPDATE OF owner_id, team ON conversations FOR EACH ROW
WHEN ((OLD.owner_id, OLD.team) IS DISTINCT FROM (NEW.owner_id, NEW.team))
EXECUTE FUNCTION give_entries();

-- So that a search in titles reads few of others, however common its words are.
DROP INDEX ix_conversations_search;
ALTER TABLE conversations DROP COLUMN search;
ALTER TABLE conversations ADD COLUMN search TSVECTOR GENERATED ALWAYS AS
    (search_words(title) || array_to_tsvector(ARRAY[holder_word(owner_id, team)])) STORED NOT NULL;
CREATE INDEX ix_conversations_search ON conversations USING gin (search);

-- Row-level security. A transaction of the API says for whom it acts, in `app.principals`: an array
-- of `user:ID`, `team:ID`, `organisation:ID`, `everyone:` and `session:ID` (a link's), or of `all:`
-- alone. It sees what these reach; without the setting, nothing. The owner of the tables sees all.
CREATE FUNCTION acting_principals() RETURNS text[]
LANGUAGE sql STABLE PARALLEL SAFE
RETURN coalesce(nullif(current_setting('app.principals', true), ''), '{}')::text[];

CREATE FUNCTION acts_for_all() RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
RETURN coalesce(current_setting('app.principals', true) = '{all:}', false);

-- In PL/pgSQL, which keeps its plans: inlined into each query, the conditions take longer to plan
-- than to run.
CREATE FUNCTION reaches(id uuid, parent_id uuid, owner_id text, team text) RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL SAFE COST 1000 AS $$
DECLARE
    acting text[];
BEGIN
    IF acts_for_all() THEN
        RETURN true;
    END IF;
    acting := acting_principals();
    RETURN coalesce('team:' || team, 'user:' || owner_id) = ANY (acting)
        OR 'session:' || id = ANY (acting)
        OR was_given('session', reaches.id)
        OR team IS NULL AND EXISTS (
            SELECT FROM users
            WHERE users.id = reaches.owner_id AND 'organisation:' || organisation = ANY (acting))
        OR parent_id IS NOT NULL AND (
            SELECT reaches(parent.id, parent.parent_id, parent.owner_id, parent.team)
            FROM conversations AS parent WHERE parent.id = reaches.parent_id);
END $$;

CREATE FUNCTION reaches_conversation(wanted uuid) RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL SAFE COST 1000 AS $$
BEGIN
    RETURN acts_for_all() OR EXISTS (SELECT FROM conversations WHERE id = wanted);
END $$;

CREATE FUNCTION reaches_turn(wanted uuid) RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL SAFE COST 1000 AS $$
BEGIN
    RETURN acts_for_all() OR EXISTS (SELECT FROM turns WHERE id = wanted);
END $$;

CREATE FUNCTION reaches_artifact(wanted uuid) RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL SAFE COST 1000 AS $$
BEGIN
    RETURN acts_for_all() OR EXISTS (SELECT FROM artifacts WHERE id = wanted);
END $$;

CREATE FUNCTION was_given(kind text, wanted uuid) RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL SAFE COST 1000 AS $$
BEGIN
    RETURN EXISTS (
        SELECT FROM grants
        WHERE resource_type = kind AND resource_id = wanted::text
        AND principal_type || ':' || principal_id = ANY (acting_principals()));
END $$;

CREATE FUNCTION acts_for(user_id text) RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
RETURN acts_for_all() OR 'user:' || user_id = ANY (acting_principals());

CREATE POLICY reached ON conversations USING (reaches(id, parent_id, owner_id, team));
CREATE POLICY reached ON tool_journal USING (reaches_turn(turn_id));
CREATE POLICY reached ON artifact_versions USING (reaches_artifact(artifact_id));
CREATE POLICY reached ON turns USING (acts_for(owner_id) OR reaches_conversation(conversation_id));
CREATE POLICY reached ON files USING (
    acts_for(owner_id) OR reaches_conversation(conversation_id) OR was_given('file', id));
CREATE POLICY reached ON usage_days USING (
    acts_for(owner_id) OR team <> '' AND 'team:' || team = ANY (acting_principals()));
CREATE POLICY reached ON spent_keys USING (acts_for(owner_id));

DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY[
        'display_messages', 'agent_state_snapshots', 'agent_state_deltas', 'sent_contents',
        'branches', 'session_links', 'tool_results', 'search_entries', 'approvals', 'plans',
        'tasks', 'artifacts', 'feedback', 'reviews']
    LOOP
        EXECUTE format(
            'CREATE POLICY reached ON %I USING (reaches_conversation(conversation_id))', name);
    END LOOP;
    FOR name IN SELECT polrelid::regclass FROM pg_policy LOOP
        EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', name);
    END LOOP;
END $$;

-- `@@` is not leakproof: under row-level security it would not use an index. So searches go through
-- functions that belong to the owner and limit themselves to what the transaction reaches.
-- `whose`: the principals whose conversations are asked for; null: everyone's. Starting workers for
-- a parallel plan would take longer than the search.
CREATE FUNCTION principals_asked(whose text[]) RETURNS text[]
LANGUAGE sql STABLE PARALLEL SAFE
RETURN CASE
    WHEN acts_for_all() THEN whose
    WHEN whose IS NULL THEN acting_principals()
    ELSE ARRAY(SELECT unnest(whose) INTERSECT SELECT unnest(acting_principals()))
END;

-- What finds the words of these holders in an index; null: there is none.
CREATE FUNCTION holder_query(principals text[]) RETURNS tsquery
LANGUAGE sql STABLE
RETURN (
    SELECT string_agg('''' || replace(replace(word, '\', '\\'), '''', '''''') || '''', ' | ')
    FROM (
        SELECT 'owner:' || substr(one, 6) FROM unnest(principals) AS one WHERE one LIKE 'user:%'
        UNION SELECT one FROM unnest(principals) AS one WHERE one LIKE 'team:%'
        UNION SELECT 'owner:' || id FROM users
        WHERE 'organisation:' || organisation = ANY (principals)
    ) AS words (word))::tsquery;

CREATE FUNCTION sessions_granted(principals text[]) RETURNS SETOF uuid
LANGUAGE sql STABLE
BEGIN ATOMIC
    SELECT DISTINCT conversations.id
    FROM unnest(principals) AS one
    JOIN grants ON principal_type = split_part(one, ':', 1)
        AND principal_id = substr(one, strpos(one, ':') + 1) AND resource_type = 'session'
    JOIN conversations ON conversations.id = resource_id::uuid
    WHERE holder_word(owner_id, team) <> ALL (
        SELECT CASE WHEN held LIKE 'user:%' THEN 'owner:' || substr(held, 6) ELSE held END
        FROM unnest(principals) AS held);
END;

-- `kind`: what the words of a holder's entries have to match besides. Each of their kinds is the
-- word of millions, so it is looked at in the entries that were found, not looked up in the index.
CREATE FUNCTION find_entries(query tsquery, kind tsquery, whose text[], within uuid)
RETURNS TABLE (conversation_id uuid, "position" integer, created_at timestamptz)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path FROM CURRENT SET plan_cache_mode = force_custom_plan
SET max_parallel_workers_per_gather = 0 AS $$
DECLARE
    asked text[] := principals_asked(whose);
    of_holders tsquery := holder_query(asked) && query;
BEGIN
    IF within IS NOT NULL THEN
        RETURN QUERY SELECT entry.conversation_id, entry.position, entry.created_at
            FROM conversations JOIN search_entries AS entry ON entry.conversation_id = id
            WHERE id = within AND reaches(id, parent_id, owner_id, team) AND words @@ (query && kind);
    ELSIF asked IS NULL THEN
        RETURN QUERY SELECT entry.conversation_id, entry.position, entry.created_at
            FROM search_entries AS entry WHERE words @@ (query && kind);
    ELSE
        RETURN QUERY SELECT entry.conversation_id, entry.position, entry.created_at
            FROM search_entries AS entry WHERE words @@ of_holders AND (words @@ kind) IS TRUE;
        RETURN QUERY SELECT entry.conversation_id, entry.position, entry.created_at
            FROM sessions_granted(asked) AS id CROSS JOIN LATERAL (
                SELECT * FROM search_entries AS one
                WHERE one.conversation_id = id AND words @@ (query && kind) OFFSET 0) AS entry;
    END IF;
END $$;

CREATE FUNCTION find_titles(query tsquery, whose text[]) RETURNS SETOF uuid
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path FROM CURRENT SET plan_cache_mode = force_custom_plan
SET max_parallel_workers_per_gather = 0 AS $$
DECLARE
    asked text[] := principals_asked(whose);
    of_holders tsquery := holder_query(asked) && query;
BEGIN
    IF asked IS NULL THEN
        RETURN QUERY SELECT id FROM conversations WHERE search @@ query;
    ELSE
        RETURN QUERY SELECT id FROM conversations WHERE search @@ of_holders;
        RETURN QUERY SELECT granted.id FROM sessions_granted(asked) AS granted (id)
            JOIN conversations USING (id) WHERE search @@ query;
    END IF;
END $$;

-- They read for whomever the caller names: `db.roles` lets the API and the workers call them.
REVOKE EXECUTE ON FUNCTION
    find_entries(tsquery, tsquery, text[], uuid), find_titles(tsquery, text[]) FROM PUBLIC;
