"""What the kit raises; each class says what happened and what to do."""


class KitError(Exception):
    """Something went wrong with a conversation."""

    def __init__(self, detail: str | None = None) -> None:
        self.detail = detail or (type(self).__doc__ or "").strip()
        super().__init__(self.detail)


class CorruptState(KitError, ValueError):
    """The stored agent state is unreadable; what people see is intact. Begin with an empty one."""


class Unchangeable(KitError):
    """A stored display message does not change, but for its status, which moves forward."""
