"""What the store refuses; each error's docstring is the sentence a person may read."""

from colloquy_kit.errors import KitError


class StoreError(KitError):
    """The conversation could not be read or written."""


class NotFound(StoreError):
    """There is no such conversation, or it belongs to somebody else."""


class StaleVersion(StoreError):
    """Somebody else has changed this since it was read. Read it again, then repeat the change."""


class NotAllowed(StoreError):
    """This change is not possible."""


class NotBound(StoreError):
    """No database is bound yet. Call bind(sessionmaker) once when the application starts."""


class NewerState(StoreError):
    """This agent state was written by a newer version of the kit. Upgrade it before you go on."""
