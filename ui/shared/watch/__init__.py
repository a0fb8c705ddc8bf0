"""How an open page learns of changes made elsewhere."""
