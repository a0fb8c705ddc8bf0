-- Which installation this is: each DATA_DIR, store and Redis that belongs to it is marked with the id.
CREATE TABLE installation (
    id UUID DEFAULT gen_random_uuid() NOT NULL,
    store_id UUID,
    CONSTRAINT pk_installation PRIMARY KEY (id)
);
CREATE UNIQUE INDEX ix_installation_one ON installation ((true));

-- A restored dump fills tables with an empty search_path: what their columns call must find the rest.
ALTER FUNCTION cut_words(text) SET search_path FROM CURRENT;
