"""Errors about domains and the secrets that they name."""

from backend.errors.base import AppError


class DomainNotFound(AppError):
    """There is no such domain. GET /api/v1/domains lists those that exist."""

    status = 404


class DomainNameTaken(AppError):
    """A domain with this name already exists. Choose another name."""

    status = 409


class DomainInUse(AppError):
    """The default domain cannot be deleted or archived. Make another one the default first."""

    status = 409


class DomainArchived(AppError):
    """This domain is archived and takes no new sessions. Choose another one, or restore it."""

    status = 409


class DomainVersionNotFound(AppError):
    """There is no such version of this domain."""

    status = 404


class DomainChanged(AppError):
    """Someone else has changed this domain; nothing was saved. Review the changes first."""

    status = 409


class SecretMissing(AppError):
    """The domain names a secret that is not set in the worker's environment."""


class SecretForbidden(SecretMissing):
    """The domain names a secret that the setting DOMAIN_SECRETS does not allow."""
