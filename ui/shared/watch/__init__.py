"""How an open page comes to know of what happened elsewhere."""
