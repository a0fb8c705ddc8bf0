"""What the generator cannot do."""

from colloquy_kit.errors import KitError


class Refused(KitError):
    """This cannot be generated; nothing has been changed."""
