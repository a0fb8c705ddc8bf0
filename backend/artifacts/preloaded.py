"""The modules that the sandbox's supervisor imports for its children."""

import difflib  # noqa: F401 - imported for its children

from backend.artifacts import diffing, forms  # noqa: F401
from backend.artifacts.documents import charts, pdf  # noqa: F401
