"""Errors of starting parts, with messages for the person at the terminal."""

from backend.errors.base import AppError


class LaunchError(AppError):
    """A part of Colloquy could not be started."""


class AlreadyRunning(LaunchError):
    """Another Colloquy is running with this DATA_DIR. Stop it first, or set another DATA_DIR."""
