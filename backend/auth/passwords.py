"""Passwords: what is accepted, and how they are kept and checked (OWASP ASVS 5.0, 6.2)."""

from threading import BoundedSemaphore

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from zxcvbn import zxcvbn

from backend.errors.people import WeakPassword

SHORTEST, LONGEST = 12, 128  # characters
ESTIMATED = 72  # characters that the estimate reads: it takes longer with each
FEWEST_GUESSES = 1e8  # what an attacker who may try a few a minute never reaches
AT_ONCE = 2  # each takes 64 MiB and a core while it is checked

_hasher = PasswordHasher()
_room = BoundedSemaphore(AT_ONCE)
# Checking an account that does not exist takes as long as one that does.
_NOBODY = _hasher.hash("nobody's password")


def check_password(password: str, *about: str) -> None:
    """Raise WeakPassword for one that is too short, too long, common, or made from `about`.

    Common passwords, words, names, dates and patterns of keys are known to zxcvbn's lists.
    """
    if not SHORTEST <= len(password) <= LONGEST:
        raise WeakPassword(
            f"A password has {SHORTEST} to {LONGEST} characters; this one has {len(password)}."
        )
    found = zxcvbn(password[:ESTIMATED], user_inputs=["colloquy", *filter(None, about)])
    if found["guesses"] < FEWEST_GUESSES:
        why = found["feedback"]["warning"] or "It can be guessed from common passwords and words"
        advice = "Choose another password, such as four random words."
        raise WeakPassword(f"{why.rstrip('.')}. {advice}")


def hash_password(password: str) -> str:
    """Return what is stored of a password (Argon2id, RFC 9106)."""
    with _room:
        return _hasher.hash(password)


def is_password(stored: str | None, given: str) -> bool:
    """Return whether a password is the stored one; None: there is none, which takes as long."""
    with _room:
        try:
            _hasher.verify(stored or _NOBODY, given)
        except (VerificationError, InvalidHashError):
            return False
    return stored is not None


def needs_rehash(stored: str) -> bool:
    """Return whether a stored hash was made with parameters that have changed since."""
    return _hasher.check_needs_rehash(stored)
