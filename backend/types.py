"""Type aliases shared by all parts."""

from typing import Any

JSON = dict[str, Any]
