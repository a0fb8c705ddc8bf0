"""What can be wrong with a domain and the secrets that it names."""

from backend.errors.base import AppError


class DomainNotFound(AppError):
    """There is no such domain. GET /api/v1/domains lists those that exist."""

    status = 404


class DomainNameTaken(AppError):
    """A domain of this name exists already. Choose another name."""

    status = 409


class DomainInUse(AppError):
    """The default domain can be neither deleted nor archived. Make another one the default."""

    status = 409


class DomainArchived(AppError):
    """This domain is archived and takes no new sessions. Choose another one, or restore it."""

    status = 409


class DomainVersionNotFound(AppError):
    """There is no such version of this domain."""

    status = 404


class DomainChanged(AppError):
    """Someone has changed this domain meanwhile; nothing was saved. Review the changes first."""

    status = 409


class SecretMissing(AppError):
    """The domain names a secret that is not set in the worker's environment."""


class SecretForbidden(SecretMissing):
    """The domain names a secret that DOMAIN_SECRETS of the settings does not allow."""
