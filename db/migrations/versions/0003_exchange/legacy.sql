-- The ids by which conversations were known in the older system that they were taken from.
CREATE TABLE legacy_ids (
    conversation_id UUID NOT NULL,
    legacy_id VARCHAR NOT NULL,
    plain_id VARCHAR NOT NULL,
    CONSTRAINT pk_legacy_ids PRIMARY KEY (conversation_id, legacy_id),
    CONSTRAINT fk_legacy_ids_conversation_id FOREIGN KEY (conversation_id)
        REFERENCES conversations (id) ON DELETE CASCADE
);
CREATE INDEX ix_legacy_ids_plain_id ON legacy_ids (plain_id);
ALTER TABLE legacy_ids ENABLE ROW LEVEL SECURITY;
CREATE POLICY reached ON legacy_ids USING (reaches_conversation(conversation_id));

-- The domains that were made from the older system's; `notes` say what of them was left out.
CREATE TABLE legacy_domains (
    legacy_id VARCHAR NOT NULL,
    domain_id UUID NOT NULL,
    notes JSONB NOT NULL,
    CONSTRAINT pk_legacy_domains PRIMARY KEY (legacy_id),
    CONSTRAINT fk_legacy_domains_domain_id FOREIGN KEY (domain_id)
        REFERENCES domains (id) ON DELETE CASCADE
);
