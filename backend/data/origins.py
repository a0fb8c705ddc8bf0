"""Which sources exist at the moment, and where each comes from."""

import hashlib
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from backend.data.errors import UnknownSource, did_you_mean
from backend.data.files.folder import (
    MAX_FILES,
    OUTSIDE,
    find_files,
    lies_within,
    stem_of,
    unique_name,
)
from backend.data.files.names import NameRegister
from backend.data.files.readers import READING_VERSION
from backend.data.files.snapshots import fingerprint
from backend.data.files.uploads import Upload
from backend.data.finance import descriptions
from backend.data.finance.build import FINANCE_VERSION

BUNDLED = {"fi": descriptions.FI, "bpc": descriptions.BPC}
_REFLECT_SECONDS = 60  # maximum age of a database's list of tables


@dataclass(frozen=True)
class Origin:
    """Where a source comes from: the bundled data, a file, a database's URL, or an upload.

    `folder`: where a file has to lie. `problem` says why it cannot be read, if known; `remark` what
    is to be said beside the figures from it.
    """

    name: str
    kind: str
    description: str
    version: str = ""
    path: Path | None = None
    folder: Path | None = None
    url: str = ""
    upload: Upload | None = None
    size: int | None = None  # of a file, in bytes
    problem: str | None = None
    remark: str = ""

    @property
    def key(self) -> str:
        """A unique key: uploads of several people may have the same name."""
        return f"{self.upload.id} upload" if self.upload else self.name


class Catalogue(Protocol):
    """The sources available to a caller."""

    @property
    def left_out(self) -> int:
        """Return how many files exceeded the limit when last listed."""

    def find_all(self) -> dict[str, Origin]:
        """Return all current sources by name."""


class SourcesWithUploads:
    """The installation's sources, and uploads, which win if names are equal."""

    def __init__(self, installed: Catalogue, find_uploads: Callable[[], Sequence[Origin]]) -> None:
        self._installed = installed
        self.find_uploads = find_uploads

    @property
    def left_out(self) -> int:
        """Return how many files exceeded the limit when last listed."""
        return self._installed.left_out

    def find_all(self) -> dict[str, Origin]:
        """Return all current sources by name."""
        uploads = {origin.name: origin for origin in self.find_uploads()}
        return {**self._installed.find_all(), **uploads}


class WithoutSome:
    """The sources that exist for a caller: all but those of the names that are withheld now."""

    def __init__(self, all_of_them: Catalogue, withheld: Callable[[], Collection[str]]) -> None:
        self._all = all_of_them
        self._withheld = withheld

    @property
    def left_out(self) -> int:
        """Return how many files exceeded the limit when last listed."""
        return self._all.left_out

    def find_all(self) -> dict[str, Origin]:
        """Return all current sources by name."""
        withheld = self._withheld()
        return {name: one for name, one in self._all.find_all().items() if name not in withheld}


class Fixed:
    """A fixed set of sources."""

    left_out = 0

    def __init__(self, *origins: Origin) -> None:
        self._origins = {origin.name: origin for origin in origins}

    def find_all(self) -> dict[str, Origin]:
        """Return the sources by name."""
        return self._origins


class Origins:
    """The bundled data, the databases by URL and the files in DATA_DIR/sources, by name."""

    def __init__(self, data_dir: Path, source_urls: Mapping[str, str]) -> None:
        self._folder = data_dir / "sources"
        self.left_out = 0  # files beyond the limit when last listed
        self._names = NameRegister(data_dir / "source_names.json")
        self._urls = _name_databases(source_urls, self._names.names())

    def find_all(self) -> dict[str, Origin]:
        """Return all current sources by name."""
        origins = [Origin(name, "finance", text, FINANCE_VERSION) for name, text in BUNDLED.items()]
        for name, url in self._urls.items():
            text = f"A {url.partition(':')[0].partition('+')[0]} database."
            minute = str(int(time.time() // _REFLECT_SECONDS))
            origins.append(Origin(name, "database", text, minute, url=url))
        origins += self._files({origin.name for origin in origins})
        return {origin.name: origin for origin in origins}

    def _files(self, taken: Collection[str]) -> Iterator[Origin]:
        folder = self._folder
        found = find_files(folder)
        self.left_out = max(len(found) - MAX_FILES, 0)
        files = {p.relative_to(folder).as_posix(): p for p in found[:MAX_FILES]}
        stems = {place: stem_of(place) for place in files}
        for place, name in self._names.name_all(stems, taken).items():
            path, text = files[place], f"The file {place}."
            with suppress(FileNotFoundError):  # it was removed at this moment
                yield Origin(
                    name,
                    "file",
                    text,
                    version=f"{fingerprint(path)}.{READING_VERSION}",
                    path=path,
                    folder=folder,
                    size=path.stat().st_size,
                    problem=None if lies_within(folder, path) else OUTSIDE,
                )


def digest_of(origins: Mapping[str, Origin]) -> str:
    """Return a digest of which sources there are, and which file each name stands for."""
    lines = sorted(f"{name} {one.kind} {one.description}" for name, one in origins.items())
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:12]


def find_origin(origins: Mapping[str, Origin], name: str) -> Origin:
    """Return the source of this name. Raise UnknownSource, which lists the known ones."""
    plain = name.strip().strip('"').lower()
    if plain in origins:
        return origins[plain]
    known = ", ".join(origins)
    hint = did_you_mean(plain, origins)
    raise UnknownSource(f"There is no source {name!r}.{hint} The sources are: {known}.")


def _name_databases(source_urls: Mapping[str, str], files: Collection[str]) -> dict[str, str]:
    named: dict[str, str] = {}
    for name, url in source_urls.items():
        named[unique_name(name, {*BUNDLED, *files, *named})] = url
    return named
