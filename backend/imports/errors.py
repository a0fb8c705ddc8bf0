"""Why an upload cannot be imported; people read these sentences."""

from backend.errors.base import AppError


class ImportRefused(AppError):
    """This file cannot be imported."""

    status = 422


class ImportNotFound(AppError):
    """There is no such import."""

    status = 404


class ImportStarted(AppError):
    """This import has been started already."""

    status = 409


class ImportGone(AppError):
    """The uploaded file is not kept any more. Upload it again."""

    status = 409


class TooManyImports(AppError):
    """You have ten uploads that were not imported. Import or cancel one of them first."""

    status = 409
