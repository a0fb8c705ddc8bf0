"""Stores the OpenAPI document in `docs/openapi.json`; with `--check`, compares it.

So a change of the API is seen where it is made: `python -m backend.api.document [--check]`.
"""

import json
import sys
from pathlib import Path

from backend.api.app import create_routes
from backend.api.openapi import describe

STORED = Path(__file__).parents[2] / "docs" / "openapi.json"


def write_document() -> str:
    """Return the document as stored: one line for each value, names in a fixed order."""
    document = describe(create_routes())
    return json.dumps(document, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def main() -> int:
    """Store the document, or compare it with the stored one."""
    document = write_document()
    if "--check" not in sys.argv[1:]:
        STORED.write_text(document, encoding="utf-8")
        return 0
    if STORED.exists() and STORED.read_text(encoding="utf-8") == document:
        return 0
    sys.stderr.write(
        "The API is not what docs/openapi.json says. If that is intended, run `make format`, and"
        " look at the difference before you commit it.\n"
    )
    return 1


if __name__ == "__main__":
    sys.exit(main())
