-- Where events are sent. `principal_type`, `principal_id`: whose sessions they tell of; `set_by`: the
-- person whose rights must reach these. `paused`: why nothing is sent. Secrets are encrypted.
CREATE TABLE webhooks (
    id UUID NOT NULL,
    principal_type VARCHAR NOT NULL,
    principal_id VARCHAR DEFAULT '' NOT NULL,
    set_by VARCHAR NOT NULL,
    name VARCHAR NOT NULL,
    url VARCHAR NOT NULL,
    events VARCHAR[] NOT NULL,
    domain_id UUID,
    sealed_secret VARCHAR NOT NULL,
    sealed_old_secret VARCHAR,
    old_secret_until TIMESTAMP WITH TIME ZONE,
    paused VARCHAR,
    failing_since TIMESTAMP WITH TIME ZONE,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT pk_webhooks PRIMARY KEY (id)
);
CREATE INDEX ix_webhooks_principal ON webhooks (principal_type, principal_id);

-- What a webhook is to be told, and has been: which row, not what it says. `number` is the order;
-- `due_at`: when it may be tried next; while it is tried, when that counts as lost.
CREATE TABLE webhook_deliveries (
    number BIGINT GENERATED ALWAYS AS IDENTITY,
    id UUID DEFAULT gen_random_uuid() NOT NULL,
    webhook_id UUID NOT NULL,
    event VARCHAR NOT NULL,
    conversation_id UUID NOT NULL,
    turn_id UUID,
    position INTEGER,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT clock_timestamp() NOT NULL,
    status VARCHAR DEFAULT 'pending' NOT NULL,
    attempts INTEGER DEFAULT 0 NOT NULL,
    due_at TIMESTAMP WITH TIME ZONE DEFAULT clock_timestamp() NOT NULL,
    ended_at TIMESTAMP WITH TIME ZONE,
    answer_status INTEGER,
    answer VARCHAR DEFAULT '' NOT NULL,
    CONSTRAINT pk_webhook_deliveries PRIMARY KEY (number),
    CONSTRAINT uq_webhook_deliveries_id UNIQUE (id),
    CONSTRAINT fk_webhook_deliveries_webhook_id FOREIGN KEY (webhook_id)
        REFERENCES webhooks (id) ON DELETE CASCADE
);
CREATE INDEX ix_webhook_deliveries_webhook_id ON webhook_deliveries (webhook_id, number DESC);
CREATE INDEX ix_webhook_deliveries_pending ON webhook_deliveries (webhook_id, conversation_id, number)
    WHERE status = 'pending';
CREATE INDEX ix_webhook_deliveries_created_at ON webhook_deliveries (created_at);

-- Everybody sees that there are webhooks for everyone's sessions, but not what these were told.
CREATE POLICY reached ON webhooks USING (
    acts_for_all() OR principal_type || ':' || principal_id = ANY (acting_principals()));
CREATE POLICY reached ON webhook_deliveries USING (
    acts_for_all() OR EXISTS (
        SELECT FROM webhooks WHERE webhooks.id = webhook_id AND principal_type <> 'everyone'));
ALTER TABLE webhooks ENABLE ROW LEVEL SECURITY;
ALTER TABLE webhook_deliveries ENABLE ROW LEVEL SECURITY;

-- Events are noted by the statements that they tell of, so neither exists alone, whoever writes them.
-- Each of the triggers looks first whether there is any webhook at all.
CREATE FUNCTION webhooks_for(wanted text, of_owner text, of_team text, of_domain uuid)
RETURNS SETOF uuid LANGUAGE sql STABLE
BEGIN ATOMIC
    SELECT id FROM webhooks
    WHERE paused IS NULL AND wanted = ANY (events) AND (domain_id IS NULL OR domain_id = of_domain)
    AND CASE principal_type
        WHEN 'user' THEN of_team IS NULL AND principal_id = of_owner
        WHEN 'team' THEN principal_id = of_team
        ELSE true
    END;
END;

-- Copied messages belong to no turn, imported ones are older than this transaction: nobody said
-- them now.
CREATE FUNCTION tell_messages() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    IF EXISTS (SELECT FROM webhooks) THEN
        INSERT INTO webhook_deliveries (webhook_id, event, conversation_id, turn_id, position)
        SELECT webhook, 'message_added', conversation_id, turn_id, said.position
        FROM added AS said JOIN conversations AS one ON one.id = conversation_id,
        webhooks_for('message_added', owner_id, team, domain_id) AS webhook
        WHERE turn_id IS NOT NULL AND said.created_at >= now() ORDER BY said.position;
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER tell_messages AFTER INSERT ON display_messages REFERENCING NEW TABLE AS added
FOR EACH STATEMENT EXECUTE FUNCTION tell_messages();

CREATE FUNCTION tell_interrupts() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    IF EXISTS (SELECT FROM webhooks) THEN
        INSERT INTO webhook_deliveries (webhook_id, event, conversation_id, turn_id)
        SELECT DISTINCT webhook, 'interrupt', conversation_id, turn_id
        FROM added JOIN conversations AS one ON one.id = conversation_id,
        webhooks_for('interrupt', owner_id, team, domain_id) AS webhook;
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER tell_interrupts AFTER INSERT ON approvals REFERENCING NEW TABLE AS added
FOR EACH STATEMENT EXECUTE FUNCTION tell_interrupts();

CREATE FUNCTION tell_finished_turn() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    IF EXISTS (SELECT FROM webhooks) THEN
        INSERT INTO webhook_deliveries (webhook_id, event, conversation_id, turn_id)
        SELECT webhook, 'turn_finished', NEW.conversation_id, NEW.id
        FROM conversations AS one, webhooks_for('turn_finished', owner_id, team, domain_id) AS webhook
        WHERE one.id = NEW.conversation_id;
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER tell_finished_turn AFTER UPDATE OF status ON turns FOR EACH ROW
WHEN (OLD.status <> NEW.status AND NEW.status IN ('succeeded', 'failed', 'stopped'))
EXECUTE FUNCTION tell_finished_turn();

CREATE FUNCTION tell_session() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
    event text := CASE TG_OP WHEN 'INSERT' THEN 'session_created' ELSE 'session_deleted' END;
    changed conversations := coalesce(NEW, OLD);
BEGIN
    IF EXISTS (SELECT FROM webhooks) THEN
        INSERT INTO webhook_deliveries (webhook_id, event, conversation_id)
        SELECT webhook, event, changed.id
        FROM webhooks_for(event, changed.owner_id, changed.team, changed.domain_id) AS webhook;
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER tell_session AFTER INSERT OR DELETE ON conversations
FOR EACH ROW EXECUTE FUNCTION tell_session();
