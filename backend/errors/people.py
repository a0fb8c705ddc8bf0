"""Errors of people: signing in, tokens, rights."""

from backend.errors.base import AppError, InvalidInput


class NotSignedIn(AppError):
    """You are not signed in, or your sign-in has ended. Sign in, or send a valid token."""

    status = 401


class PersonDisabled(AppError):
    """An administrator has switched this account off, and its turns with it."""

    status = 403


class SignInRefused(AppError):
    """The name or the password is wrong, or this account may not sign in. Try again."""

    status = 401


class TooManySignIns(AppError):
    """Too many sign-ins have failed. Wait a moment, then try again."""

    status = 429


class TokenTooNarrow(AppError):
    """This token does not allow this call. Use one that does."""

    status = 403


class LinkUsed(AppError):
    """This link was used already, has expired, or never existed. Ask for a new one."""

    status = 410


class WeakPassword(InvalidInput):
    """This password is too easy to guess. Choose another one."""


class LoginTaken(AppError):
    """Another account signs in with this name. Choose another one."""

    status = 409


class PersonNotFound(AppError):
    """This person does not exist."""

    status = 404


class TeamNotFound(AppError):
    """This team does not exist, or you are not one of its members."""

    status = 404


class TeamNameTaken(AppError):
    """Another team has this name. Choose another one."""

    status = 409


class TokenNotFound(AppError):
    """This token does not exist, or is somebody else's."""

    status = 404


class LastAdministrator(AppError):
    """Nobody else could administer Colloquy then. Make another person an administrator first."""

    status = 409


class ReasonNeeded(AppError):
    """This is somebody else's session. Say why you read it; its owner will see it."""

    status = 403


class TeamOwnsSessions(AppError):
    """Sessions belong to this team. Delete them, or give them to somebody else first."""

    status = 409


class RightsEnded(AppError):
    """Who asked may not continue this session any more, so its turn was ended."""

    status = 403


class ProviderNotFound(AppError):
    """Nobody signs in with this provider here. Open the sign-in page and choose another way."""

    status = 404


class ProviderExists(AppError):
    """There is a provider with this id already. Choose another id, or change that provider."""

    status = 409


class ProviderOfEnvironment(AppError):
    """This provider is set in OIDC_PROVIDERS. Change it there, and start Colloquy anew."""

    status = 409


class LastWayIn(AppError):
    """No administrator could sign in any more then. Give one of them another way in first."""

    status = 409


class ProviderFails(AppError):
    """The identity provider does not answer as it should. Try again, or tell an administrator."""

    status = 502


class AnswerRefused(AppError):
    """The answer of the identity provider was not accepted, so nobody was signed in. Try again."""

    status = 401

    def __init__(self, reason: str, detail: str) -> None:
        self.reason = reason  # a word or two, for the audit trail
        super().__init__(detail)


class NotInvited(AppError):
    """You are not known here. Ask an administrator for an invitation, then open its link."""

    status = 403


class IdentityTaken(AppError):
    """You have signed in here before as somebody else, so this link is not for you."""

    status = 409


class PagesUnknown(AppError):
    """Only the pages' server may say whom a proxy has let in; it shows PAGES_KEY."""

    status = 401
