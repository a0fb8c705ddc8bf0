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
