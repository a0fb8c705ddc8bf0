"""The one tree of errors: each class names a fact, carries its HTTP status and says what to do."""

from datetime import UTC, datetime


class AppError(Exception):
    """Something went wrong in Colloquy; the log has the details."""

    status = 500
    retry_after: int | None = None
    offer: str | None = None  # what pages offer beside Retry, or instead

    def __init__(self, detail: str | None = None) -> None:
        self.detail = detail or (type(self).__doc__ or "").strip()
        super().__init__(self.detail)

    @property
    def title(self) -> str:
        """The fact in words, from the class's name: TurnNotFound -> 'Turn not found'."""
        name = type(self).__name__
        words = "".join(f" {c.lower()}" if c.isupper() else c for c in name).strip()
        return words.capitalize()


class InvalidInput(AppError):
    """The input is not valid; nothing was changed. Correct it and send it again."""

    status = 422


class SearchTooBroad(AppError):
    """The search took too long and was ended. Use more words, or rarer ones, or whole words."""

    status = 422


class SessionNotFound(AppError):
    """There is no such session, or it was deleted. Choose another one or start a new chat."""

    status = 404


class LinkNotFound(AppError):
    """There is no such link, or its session was deleted. Ask whoever sent it for another one."""

    status = 404


class LinkRevoked(AppError):
    """The owner of this session has revoked the link. Ask them for another one."""

    status = 410

    @classmethod
    def at(cls, when: datetime) -> "LinkRevoked":
        """Return the error that says when it was."""
        said = f"{when.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
        return cls(f"The owner of this session revoked the link on {said}. Ask them for another.")


class TooManyLinks(AppError):
    """This session has as many links as one may have, with those that were revoked."""

    status = 409


class TurnNotFound(AppError):
    """There is no such turn, or its session was deleted."""

    status = 404


class DomainNotFound(AppError):
    """There is no such domain. GET /api/v1/domains lists those that exist."""

    status = 404


class ResultNotFound(AppError):
    """There is no such stored result, or its session was deleted."""

    status = 404


class ToolVersionNotFound(AppError):
    """There is no such version of a tool. It may have changed again: load the list anew."""

    status = 404


class ToolServersNotChecked(AppError):
    """No worker has looked at the tool servers. Check that one runs, and Redis, then try again."""

    status = 503
    retry_after = 5


class WorkerNotFound(AppError):
    """No such worker process is running."""

    status = 404


class NotAllowed(AppError):
    """Your role does not allow this. Ask an administrator."""

    status = 403


class ToolNotGiven(AppError):
    """No agent of this session may query sources, so neither can you here."""

    status = 403


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


class MessageTakenBack(AppError):
    """This message was taken back before anybody answered it. Send it again."""

    status = 409


class SessionBusy(AppError):
    """A turn of this session is not finished. Wait for its end, or stop it first."""

    status = 409


class NotShown(AppError):
    """This message is not part of what the session shows. Switch to the version that has it."""

    status = 409


class CallsUnanswered(AppError):
    """The last turn of this session left tool calls without results. Press Retry there first."""

    status = 409


class StateNotKept(AppError):
    """What the model read at that time is not kept: the session is of an older version."""

    status = 409


class CallNotFound(AppError):
    """There is no such model call in this session. GET …/calls lists those that are kept."""

    status = 404


class CallNotKept(AppError):
    """What this call sent cannot be given again: a part of it is not kept any more."""

    status = 409


class NothingToDecide(AppError):
    """This turn is not waiting for a decision."""

    status = 409


class ApprovalNotFound(AppError):
    """There is no such call to decide on, or its session was deleted."""

    status = 404


class AlreadyDecided(AppError):
    """Somebody has decided on this call already; nothing was changed."""

    status = 409


class ArgumentsChanged(AppError):
    """These are not the arguments that wait for a decision. Load them again, then decide."""

    status = 409


class IdempotencyKeyReused(AppError):
    """This Idempotency-Key was used before with another body. Use a new key for a new message."""

    status = 422


class MessageTooLong(AppError):
    """The message is too long. Put the text into a file under DATA_DIR/sources and ask about it."""

    status = 413


class FileNotFound(AppError):
    """There is no such file, or it was deleted. Upload it again, or choose another one."""

    status = 404


class FileTooLarge(AppError):
    """The file is larger than one may be. Split it, or save it as Parquet, which is smaller."""

    status = 413


class NoRoomForFiles(AppError):
    """Your files have no more room. Delete some on the page Data, then upload this one again."""

    status = 413


class TooManyTurns(AppError):
    """Too many of your turns are waiting. Send the next one when some have finished."""

    status = 429
    retry_after = 10


class TooManyStreams(AppError):
    """Too many event streams are open already. Close some pages of sessions, then try again."""

    status = 429
    retry_after = 10


class TooBusy(AppError):
    """Too many requests of this kind are waiting. Try again in a few seconds."""

    status = 503
    retry_after = 5


class TokensUsedUp(AppError):
    """Your tokens for today (UTC) are used up. Continue tomorrow, or ask an admin for more."""

    status = 429
    retry_after = 600


class BudgetUsedUp(AppError):
    """Your budget for today (UTC) is used up. Continue tomorrow, or ask an admin for more."""

    status = 429
    retry_after = 600


class CostLimitReached(AppError):
    """The turn has cost as much as its domain allows. Ask for less, or raise the limit."""


class TokenLimitReached(AppError):
    """The turn has used all the tokens that its domain allows. Ask for less, or raise the limit."""


class SessionBudgetUsedUp(AppError):
    """This session has used what its domain allows for one session. Continue in a new session."""

    offer = "new_session"


class DomainBudgetUsedUp(AppError):
    """All sessions of this domain have used what it allows for a month. Continue next month."""


class DatabaseUnavailable(AppError):
    """The database is not answering; nothing was changed. Try again in a few seconds."""

    status = 503
    retry_after = 5


class LeaseLost(AppError):
    """Another worker has taken this turn over, or it was deleted; this attempt may not write."""

    status = 409


class ConfigurationError(AppError):
    """The configuration is not usable; the message says which setting and how to fix it."""


class KeyUnreadable(ConfigurationError):
    """The stored API key cannot be read. Enter it again on the page Models."""

    status = 409


class SecretMissing(AppError):
    """The domain names a secret that is not set in the worker's environment."""


class SecretForbidden(SecretMissing):
    """The domain names a secret that DOMAIN_SECRETS of the settings does not allow."""


class ModelFailed(AppError):
    """The model gave no usable answer. Press Retry.

    `is_passing`: it may give one when it is asked again later.
    """

    is_passing = True


class ModelUnavailable(ModelFailed):
    """The model did not answer. Press Retry, or check the connection on the page Models."""


class IncompleteAnswer(ModelFailed):
    """The model's answer broke off before its end; no tool of it was run. Press Retry."""


class StepLimitReached(AppError):
    """The agent reached its limit of steps without an answer. Ask for less, or raise the limit."""


class CallLimitReached(AppError):
    """The agent has made as many calls as its domain allows. Ask for less, or raise the limit."""


class EndlessLoop(AppError):
    """The agent made the same call over and over, with the same result. Ask in other words."""


class TimeLimitReached(AppError):
    """The turn took longer than its domain allows. Ask for less, or raise the limit."""


class CorruptState(AppError):
    """What the agent remembers of this session is unreadable; what was said stays. Rebuild it."""

    status = 409


class ToolServerUnavailable(AppError):
    """A tool server (MCP) cannot be used. Turns continue without its tools; check that it runs."""
