"""Names for types that all parts use."""

from typing import Any

JSON = dict[str, Any]
