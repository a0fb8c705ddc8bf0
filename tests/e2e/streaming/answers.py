"""What the model says and calls in the tests of this folder."""

ROWS = "SELECT 'a' AS name, 1.5 AS amount UNION ALL SELECT 'b', 2.5"
CALL = {"name": "query_source", "args": {"source": "fi", "sql": ROWS}}
STREAMED = "".join(f"Paragraph {number} of the answer.\n\n" for number in range(9_000))
ENDLESS = {"text": STREAMED, "delay": 0.02}
