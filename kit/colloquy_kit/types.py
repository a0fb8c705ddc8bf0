"""Type aliases shared by all parts of the kit."""

from typing import Any

JSON = dict[str, Any]
