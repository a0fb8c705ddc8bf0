"""Errors raised when a model cannot be asked or gives no usable answer."""

from backend.errors.base import AppError, ConfigurationError


class KeyUnreadable(ConfigurationError):
    """The stored API key cannot be read. Enter it again on the Models page."""

    status = 409


class ConnectionChanged(AppError):
    """Someone else has changed the connection; nothing was saved. Review the change first."""

    status = 409


class PriceNotFound(AppError):
    """No price of this model is set on the page Models; the environment's cannot be removed."""

    status = 404


class ModelFailed(AppError):
    """The model gave no usable answer. Press Retry.

    `is_transient`: asking again later may succeed.
    """

    is_transient = True


class ModelUnavailable(ModelFailed):
    """The model did not answer. Press Retry, or check the connection on the Models page."""


class FormRefused(ModelFailed):
    """The model's endpoint refused the form of the request. Press Retry."""

    def __init__(self, repairs: frozenset[str] = frozenset()) -> None:
        super().__init__()
        self.repairs = repairs  # which may help


class ConversationTooLong(ModelUnavailable):
    """The conversation is longer than this model can read. Start a new session."""


class IncompleteAnswer(ModelFailed):
    """The model's answer broke off; none of its tool calls were run. Press Retry."""


class ModelWithheld(ConfigurationError):
    """There is no such model that you may use. Choose another one, or ask an administrator."""

    status = 422
