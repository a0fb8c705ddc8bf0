"""A safe view of an uploaded file, or of the files in an uploaded zip. Used in the sandbox only.

Names that leave the archive, links and encrypted files are refused or left out; what is read is
counted while it is read, because headers of hostile archives lie.
"""

import io
import stat
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from backend.imports.errors import ImportRefused

MOST_ENTRIES = 20_000
MOST_BYTES = 4 << 30  # of all entries, inflated, in one reading of the upload
MOST_OF_ENTRY = 512 << 20
_PIECE = 1 << 20
_END_OF_ZIP = b"PK\x05\x06"
_DAMAGED = "The archive is damaged: {} cannot be read. Export it again, and upload the new file."


@dataclass(frozen=True)
class Entry:
    """A file of the upload: its name, with `/` between folders, and its size as declared."""

    name: str
    size: int

    @property
    def base(self) -> str:
        """The name without its folders."""
        return self.name.rpartition("/")[2]


class Upload:
    """The upload: of a zip, its files; of any other file, that file alone, under its own name."""

    def __init__(self, path: Path, name: str) -> None:
        """Open the upload. Raise ImportRefused."""
        self.name = name
        self.notes: list[str] = []  # what of the archive was left out
        self._path = path
        self._read = 0
        self._zip: zipfile.ZipFile | None = None
        self._infos: dict[str, zipfile.ZipInfo] = {}
        if zipfile.is_zipfile(path):
            self._open_zip()
            sizes = {name: info.file_size for name, info in self._infos.items()}
        else:
            sizes = {PurePosixPath(name.replace("\\", "/")).name or "file": path.stat().st_size}
        self.entries = [Entry(name, size) for name, size in sizes.items()]

    @property
    def is_archive(self) -> bool:
        """Whether the upload is a zip."""
        return self._zip is not None

    def find(self, base: str) -> Entry | None:
        """Return the entry of this name in the topmost folder that has one."""
        named = [entry for entry in self.entries if entry.base == base]
        return min(named, key=lambda entry: entry.name.count("/"), default=None)

    def open(self, name: str) -> BinaryIO:
        """Open an entry. Raise KeyError for an unknown one; reading raises ImportRefused."""
        if self._zip is None:
            if name != self.entries[0].name:
                raise KeyError(name)
            return io.BufferedReader(_Bounded(self, open(self._path, "rb"), name), _PIECE)
        try:
            stream = self._zip.open(self._infos[name])
        except (zipfile.BadZipFile, NotImplementedError, RuntimeError, OSError) as error:
            raise ImportRefused(_DAMAGED.format(name[:200])) from error
        return io.BufferedReader(_Bounded(self, stream, name), _PIECE)

    def head(self, name: str, size: int = 65_536) -> bytes:
        """Return the first bytes of an entry, to recognise a format."""
        with self.open(name) as file:
            return file.read(size)

    def lines(self, name: str, longest: int) -> Iterator[bytes | None]:
        """Yield the lines of an entry, without their ends; None in place of one that is longer."""
        with self.open(name) as file:
            while line := file.readline(longest + 1):
                if line.endswith(b"\n") or len(line) <= longest:
                    yield line.rstrip(b"\r\n")
                    continue
                while line and not line.endswith(b"\n"):
                    line = file.readline(longest + 1)
                yield None

    def count(self, size: int) -> None:
        """Count bytes that were read. Raise ImportRefused beyond the limit of all entries."""
        self._read += size
        if self._read > MOST_BYTES:
            raise ImportRefused(
                f"The archive unpacks to more than {MOST_BYTES >> 30} GiB. Import it in parts."
            )

    def _open_zip(self) -> None:
        try:
            self._refuse_many()
            self._zip = zipfile.ZipFile(self._path)
            infos = self._zip.infolist()
        except (zipfile.BadZipFile, NotImplementedError, ValueError, OSError) as error:
            raise ImportRefused(_DAMAGED.format("its list of files")) from error
        if len(infos) > MOST_ENTRIES:
            raise _too_many(len(infos))
        for info in infos:
            self._take(info)

    def _refuse_many(self) -> None:
        """Refuse an archive that claims too many entries, before its list is read."""
        with self._path.open("rb") as file:
            file.seek(max(0, self._path.stat().st_size - 66_000))
            end = file.read()
        place = end.rfind(_END_OF_ZIP)
        count = int.from_bytes(end[place + 10 : place + 12], "little") if place >= 0 else 0
        directory = int.from_bytes(end[place + 12 : place + 16], "little") if place >= 0 else 0
        # 0xFFFF means that a zip64 record has the number, which zipfile reads; a directory takes 46
        # bytes and a name for each entry.
        if count != 0xFFFF and count > MOST_ENTRIES:
            raise _too_many(count)
        if directory != 0xFFFFFFFF and directory > MOST_ENTRIES * 1_000:
            raise ImportRefused("The archive's list of files is too large.")

    def _take(self, info: zipfile.ZipInfo) -> None:
        name = info.filename.replace("\\", "/")
        if info.is_dir():
            return
        if name.startswith("/") or ":" in name.split("/")[0] or ".." in name.split("/"):
            raise ImportRefused(
                f"The archive has a file that would leave its folder ({name[:100]!r}). "
                "No export of a chat program does that, so nothing of it is read."
            )
        if stat.S_ISLNK(info.external_attr >> 16):
            self.notes.append(f"{name[:200]} is a link to another file, and was left out.")
        elif info.flag_bits & 0x1:
            self.notes.append(f"{name[:200]} is encrypted, and was left out.")
        elif name in self._infos:
            self.notes.append(f"The archive has {name[:200]} more than once; the first was read.")
        else:
            self._infos[name] = info


class _Bounded(io.RawIOBase):
    """A stream that counts what is read, against the limits of the entry and of the upload."""

    def __init__(self, upload: Upload, stream: object, name: str) -> None:
        self._upload = upload
        self._stream: BinaryIO = stream  # type: ignore[assignment]
        self._name = name
        self._read = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        view = memoryview(buffer)  # type: ignore[arg-type]
        try:
            piece = self._stream.read(len(view))
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, OSError) as error:
            raise ImportRefused(_DAMAGED.format(self._name[:200])) from error
        self._read += len(piece)
        if self._read > MOST_OF_ENTRY:
            raise ImportRefused(
                f"{self._name[:200]} unpacks to more than {MOST_OF_ENTRY >> 20} MiB. "
                "Import the archive in parts."
            )
        self._upload.count(len(piece))
        view[: len(piece)] = piece
        return len(piece)

    def close(self) -> None:
        if not self.closed:
            self._stream.close()
        super().close()


def _too_many(count: int) -> ImportRefused:
    return ImportRefused(
        f"The archive has {count:,} files, more than {MOST_ENTRIES:,}. Import it in parts."
    )
