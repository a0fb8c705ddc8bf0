"""Errors raised when an artifact cannot be found, created or delivered."""

from backend.errors.base import AppError


class ArtifactNotFound(AppError):
    """There is no such artifact or version. See the session's artifacts for those that exist."""

    status = 404


class ArtifactRefused(AppError):
    """This cannot be made into an artifact; nothing was changed."""

    status = 422


class DocumentNotLaidOut(AppError):
    """This document is too long to be laid out as a PDF. Download it as a web page or Markdown."""

    status = 422


class ArtifactContentGone(AppError):
    """The content of this version is missing from its store. Recreate it or restore a backup."""

    status = 410


class ArtifactStoreUnavailable(AppError):
    """The artifact store is not answering; nothing was changed. Try again in a few seconds."""

    status = 503
    retry_after = 5
