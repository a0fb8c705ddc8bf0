"""Where uploads are while they are imported: in DATA_DIR/imports, under the import's id."""

import shutil
from pathlib import Path
from uuid import UUID

from backend.files.store import FileStore


class ImportPlace:
    """The files of imports; the API and the workers of a machine share the folder."""

    def __init__(self, data_dir: Path) -> None:
        self._folder = data_dir / "imports"
        self.store = FileStore(self._folder)

    def upload(self, import_id: UUID) -> Path:
        """Return the path of the upload."""
        return self.store.path(import_id)

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
