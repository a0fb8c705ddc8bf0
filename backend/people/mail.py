"""Mails with one-time links, sent by the operator's SMTP server."""

import logging
import smtplib
import socket
import ssl
from email.headerregistry import Address
from email.message import EmailMessage
from urllib.parse import unquote, urlsplit

from backend.addresses import one_time_link
from backend.outgoing.addresses import is_this_machine
from backend.outgoing.connecting import connect
from backend.outgoing.policy import Outgoing
from backend.schemas.people.account import LinkPurpose
from backend.schemas.people.people import Mailed, Person
from backend.settings import Settings

SECONDS = 10.0
READY = 220
PORTS = {"smtp": 587, "smtps": 465}
SUBJECTS = {
    LinkPurpose.INVITATION: "Your invitation to Colloquy",
    LinkPurpose.RESET: "Set a new password for Colloquy",
}
LASTS = {LinkPurpose.INVITATION: "seven days", LinkPurpose.RESET: "24 hours"}
SILENT = "The mail server of SMTP_URL does not answer."
log = logging.getLogger(__name__)


def send_link(
    settings: Settings, purpose: LinkPurpose, person: Person, token: str
) -> Mailed | None:
    """Mail a person their one-time link; None: no SMTP server is set, or they have no address.

    A failure is an answer, not an error: the link exists, and can be handed over in another way.
    """
    email = person.email
    url = settings.smtp_url.get_secret_value()
    if not url or not email:
        return None
    try:
        message = _write(settings, purpose, person.name, email, token)
        deliver(message, url, settings.outgoing.trusting(url))
    except (OSError, smtplib.SMTPException, ValueError) as error:
        log.warning("A mail could not be sent: %s", type(error).__name__)
        return Mailed(to=email, problem=_why(error))
    return Mailed(to=email)


def _write(
    settings: Settings, purpose: LinkPurpose, name: str, email: str, token: str
) -> EmailMessage:
    message = EmailMessage()
    message["Subject"] = SUBJECTS[purpose]
    message["From"] = Address(addr_spec=settings.mail_from)
    message["To"] = Address(addr_spec=email)
    message.set_content(
        f"Hello {name},\n\nopen this link to set your password for Colloquy:\n\n"
        f"{one_time_link(settings.pages_url, token)}\n\n"
        f"It works once, within {LASTS[purpose]}. If you did not expect it, ignore this mail.\n"
    )
    return message


def deliver(message: EmailMessage, url: str, outgoing: Outgoing) -> None:
    """Send a mail by the server at this URL, encrypted unless that is on this machine.

    Raise OSError or SMTPException.
    """
    parts, context = urlsplit(url), ssl.create_default_context()
    host, port = parts.hostname or "", parts.port or PORTS[parts.scheme]
    name = message["From"].addresses[0].domain
    client = _Smtps(outgoing, name, context) if parts.scheme == "smtps" else _Smtp(outgoing, name)
    with client:
        code, said = client.connect(host, port)
        if code != READY:
            raise smtplib.SMTPConnectError(code, said)
        if parts.scheme == "smtp" and not is_this_machine(host):
            client.starttls(context=context)
        if parts.username:
            client.login(unquote(parts.username), unquote(parts.password or ""))
        client.send_message(message)


def _why(error: Exception) -> str:
    """Return why no mail was sent, without what the server said: it may quote a password."""
    if isinstance(error, smtplib.SMTPAuthenticationError):
        return "The mail server refused the name or the password of SMTP_URL."
    if isinstance(error, smtplib.SMTPNotSupportedError):
        return "The mail server does not offer STARTTLS, so nothing was sent. Use smtps://."
    if isinstance(error, smtplib.SMTPRecipientsRefused):
        return "The mail server refused this address."
    if isinstance(error, smtplib.SMTPServerDisconnected):
        return SILENT
    if isinstance(error, smtplib.SMTPException):
        return "The mail server refused the mail."
    if isinstance(error, ssl.SSLError):
        return "The mail server did not prove with a certificate that it is that of SMTP_URL."
    if isinstance(error, ValueError):
        return "This is not an address to which mail can be sent."
    return SILENT


class _Checked(smtplib.SMTP):
    """Connects to addresses that were checked, like all connections of a configuration."""

    _outgoing: Outgoing
    _host: str

    def _get_socket(self, host: str, port: int, timeout: float) -> socket.socket:
        self._host = host  # whose certificate it must be
        return connect(self._outgoing, host, port, timeout)


class _Smtp(_Checked):
    def __init__(self, outgoing: Outgoing, name: str) -> None:
        self._outgoing = outgoing
        super().__init__(local_hostname=name, timeout=SECONDS)


class _Smtps(smtplib.SMTP_SSL, _Checked):
    def __init__(self, outgoing: Outgoing, name: str, context: ssl.SSLContext) -> None:
        self._outgoing = outgoing
        super().__init__(local_hostname=name, timeout=SECONDS, context=context)
