"""Uploaded files of single formats: what is read of them, and what is said of the rest."""
