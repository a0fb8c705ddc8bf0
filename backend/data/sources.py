"""All sources that tools may ask: the bundled finance data, files and databases."""

from collections.abc import Mapping
from pathlib import Path


class Sources:
    """The sources of one installation; safe to share between threads and turns."""

    def __init__(self, data_dir: Path, source_urls: Mapping[str, str]) -> None:
        self._data_dir = data_dir
        self._source_urls = source_urls

    def close(self) -> None:
        """Release connections and threads."""
