"""Where uploads are while they are imported, under the import's id: as uploaded files are.

What a worker makes of one is in DATA_DIR/imports of its host. Another host makes it again.
"""

import shutil
from pathlib import Path
from uuid import UUID

from backend.files.store import FileStore
from backend.imports.errors import ImportGone
from backend.settings import Settings
from backend.storage.stores import IMPORTS, open_bucket


class ImportPlace:
    """The files of imports."""

    def __init__(self, settings: Settings) -> None:
        """Raise ConfigurationError if the bucket cannot be opened."""
        self._folder = settings.data_dir / "imports"
        self.store = FileStore(self._folder, open_bucket(settings, IMPORTS))

    def upload(self, import_id: UUID) -> Path:
        """Return the path of the upload. Raise ImportGone, or FileStoreUnavailable."""
        try:
            return self.store.fetch(import_id)
        except FileNotFoundError:
            raise ImportGone from None

    def converted(self, import_id: UUID) -> Path:
        """Return the path of its conversations as they were read."""
        return self._folder / f"{import_id.hex}.read"

    def work(self, import_id: UUID) -> Path:
        """Return an empty folder for the attachments of one conversation."""
        folder = self._folder / f"{import_id.hex}.files"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(mode=0o700, parents=True)
        return folder

    def erase(self, import_id: UUID, *, upload: bool = True) -> None:
        """Remove what was made of an upload, and the upload itself."""
        converted = self.converted(import_id)
        for place in (converted, converted.with_name(f"{converted.name}.part")):
            place.unlink(missing_ok=True)
        shutil.rmtree(self._folder / f"{import_id.hex}.files", ignore_errors=True)
        if upload:
            self.store.erase(import_id)
