"""Errors raised when an uploaded file cannot be found or accepted."""

from backend.errors.base import AppError


class FileNotFound(AppError):
    """There is no such file, or it was deleted. Upload it again, or choose another one."""

    status = 404


class FileExists(AppError):
    """You already have a file of this name. Replace it, or keep both."""

    status = 409


class FileTooLarge(AppError):
    """The file exceeds the size limit. Split it, or save it as Parquet, which is smaller."""

    status = 413


class NoRoomForFiles(AppError):
    """Your file storage is full. Delete some files on the Data page, then upload this one again."""

    status = 413


class FileStoreUnavailable(AppError):
    """The server cannot store files; its disk may be full. Tell its operator, then try again."""

    status = 503
    retry_after = 60
