"""What the sandbox's supervisor imports, so that children find it."""

import difflib  # noqa: F401 - imported for its children

from backend.artifacts import diffing, forms  # noqa: F401
from backend.artifacts.documents import charts, pdf  # noqa: F401
