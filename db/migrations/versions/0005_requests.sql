-- The request that accepted a turn, so that the records of its worker can be found from the proxy's.
ALTER TABLE turns ADD COLUMN request JSONB;
