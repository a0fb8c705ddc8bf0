"""A worker of the next version, which knows a schema that the others do not: `python -m …`."""

from db import schema
from worker.__main__ import leave, main

NEWER = "9999"

if __name__ == "__main__":
    schema.REVISIONS = (*schema.REVISIONS, NEWER)
    leave(main())
