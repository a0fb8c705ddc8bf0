-- Uploads of other programs' exports: inspected, then imported by a worker.
CREATE TABLE imports (
    id UUID NOT NULL,
    owner_id VARCHAR NOT NULL,
    name VARCHAR NOT NULL,
    size BIGINT NOT NULL,
    status VARCHAR NOT NULL,
    domain_id UUID,
    allows VARCHAR,
    inspection JSONB NOT NULL,
    done INTEGER DEFAULT 0 NOT NULL,
    counts JSONB DEFAULT '{}' NOT NULL,
    report JSONB DEFAULT '[]' NOT NULL,
    error VARCHAR,
    attempt INTEGER DEFAULT 0 NOT NULL,
    lease_until TIMESTAMP WITH TIME ZONE,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT clock_timestamp() NOT NULL,
    started_at TIMESTAMP WITH TIME ZONE,
    finished_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT pk_imports PRIMARY KEY (id)
);
CREATE INDEX ix_imports_owner ON imports (owner_id, created_at DESC, id DESC);
CREATE INDEX ix_imports_running ON imports (started_at) WHERE status = 'running';

-- Where a conversation came from, so that importing it again finds it.
CREATE TABLE imported_conversations (
    owner_id VARCHAR NOT NULL,
    source VARCHAR NOT NULL,
    source_id VARCHAR NOT NULL,
    conversation_id UUID NOT NULL,
    digest VARCHAR NOT NULL,
    messages INTEGER NOT NULL,
    CONSTRAINT pk_imported_conversations PRIMARY KEY (owner_id, source, source_id),
    CONSTRAINT fk_imported_conversations_conversation_id FOREIGN KEY (conversation_id)
        REFERENCES conversations (id) ON DELETE CASCADE
);
CREATE INDEX ix_imported_conversations_conversation ON imported_conversations (conversation_id);

CREATE POLICY reached ON imports USING (acts_for(owner_id));
CREATE POLICY reached ON imported_conversations USING (acts_for(owner_id));
ALTER TABLE imports ENABLE ROW LEVEL SECURITY;
ALTER TABLE imported_conversations ENABLE ROW LEVEL SECURITY;
