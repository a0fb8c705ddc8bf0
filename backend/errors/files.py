"""Why a file cannot be found or taken."""

from backend.errors.base import AppError


class FileNotFound(AppError):
    """There is no such file, or it was deleted. Upload it again, or choose another one."""

    status = 404


class FileTooLarge(AppError):
    """The file is larger than one may be. Split it, or save it as Parquet, which is smaller."""

    status = 413


class NoRoomForFiles(AppError):
    """Your files have no more room. Delete some on the page Data, then upload this one again."""

    status = 413
