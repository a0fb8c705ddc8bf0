-- When somebody last read a conversation. Null: not since it was last changed; a later `updated_at`
-- counts instead. In no index, so that noting it rewrites none.
ALTER TABLE conversations ADD COLUMN last_accessed_at TIMESTAMP WITH TIME ZONE;

-- A conversation is found by its image: each has its own.
CREATE UNIQUE INDEX ix_conversations_image ON conversations (image_id);
