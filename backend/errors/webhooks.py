"""Errors about webhooks."""

from backend.errors.base import AppError


class WebhookNotFound(AppError):
    """This webhook does not exist, or is somebody else's."""

    status = 404


class DeliveryNotFound(AppError):
    """This webhook has no such delivery; it may have been deleted after a week."""

    status = 404


class WebhookPaused(AppError):
    """This webhook is paused. Resume it first, then send again."""

    status = 409
