"""Why a model gave no answer, or cannot be asked."""

from backend.errors.base import AppError, ConfigurationError


class KeyUnreadable(ConfigurationError):
    """The stored API key cannot be read. Enter it again on the page Models."""

    status = 409


class ConnectionChanged(AppError):
    """Somebody has changed the connection meanwhile; nothing was saved. Look at it first."""

    status = 409


class ModelFailed(AppError):
    """The model gave no usable answer. Press Retry.

    `is_passing`: it may give one when it is asked again later.
    """

    is_passing = True


class ModelUnavailable(ModelFailed):
    """The model did not answer. Press Retry, or check the connection on the page Models."""


class IncompleteAnswer(ModelFailed):
    """The model's answer broke off before its end; no tool of it was run. Press Retry."""
