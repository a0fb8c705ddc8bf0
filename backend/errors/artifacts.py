"""Why an artifact cannot be found, made or given."""

from backend.errors.base import AppError


class ArtifactNotFound(AppError):
    """There is no such artifact, or not this version of it. Look at the session's artifacts."""

    status = 404


class ArtifactRefused(AppError):
    """An artifact cannot be made of this; nothing was changed."""

    status = 422


class DocumentNotLaidOut(AppError):
    """This document is too long to be laid out as a PDF. Download it as a web page or Markdown."""

    status = 422


class ArtifactContentGone(AppError):
    """The content of this version is gone from its store. Make it anew, or restore a backup."""

    status = 410


class ArtifactStoreUnavailable(AppError):
    """The store of artifacts is not answering; nothing was changed. Try again in a few seconds."""

    status = 503
    retry_after = 5
