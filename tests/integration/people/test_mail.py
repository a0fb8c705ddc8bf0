"""One-time links are mailed where a mail server is set; what fails is said beside the link."""

import email
import email.policy
import socket
import ssl
from collections.abc import Iterator
from email.message import EmailMessage
from pathlib import Path
from smtplib import SMTPNotSupportedError
from typing import Any
from uuid import uuid4

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session

from backend.outgoing.policy import Outgoing
from backend.people.mail import deliver
from tests.certificates import certificate_for
from tests.integration.people.people import accounts_of
from tests.processes import free_port
from tests.stack import Stack


class Mailbox:
    """What a mail server does with mails: it keeps them, except for addresses like `refused@…`."""

    def __init__(self) -> None:
        self.mails: list[EmailMessage] = []

    async def handle_RCPT(
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        if address.startswith("refused"):
            return "550 no such person"
        envelope.rcpt_tos.append(address)
        return "250 ok"

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:
        assert isinstance(envelope.content, bytes)
        mail = email.message_from_bytes(envelope.content, policy=email.policy.default)
        assert isinstance(mail, EmailMessage)
        self.mails.append(mail)
        return "250 kept"


@pytest.fixture
def mails() -> Mailbox:
    return Mailbox()


@pytest.fixture
def port(mails: Mailbox) -> Iterator[int]:
    """The port of a mail server on this machine."""
    server = Controller(mails, hostname="127.0.0.1", port=free_port())
    server.start()
    yield server.port
    server.stop()


def invite(stack: Stack, folder: Path, smtp_url: str, address: str) -> dict[str, Any]:
    given = {
        "smtp_url": smtp_url,
        "mail_from": "desk@example.com",
        "public_url": "https://desk.example.com",
    }
    with accounts_of(stack, folder, **given) as accounts:
        new = {"name": f"Grace {uuid4().hex}", "email": address}
        answer = accounts.first_admin().post("/people", json=new)
    assert answer.status_code == 201, answer.text
    invited: dict[str, Any] = answer.json()
    return invited


def test_an_invitation_is_mailed_with_its_link(
    stack: Stack, tmp_path: Path, mails: Mailbox, port: int
) -> None:
    invited = invite(stack, tmp_path, f"smtp://127.0.0.1:{port}", "grace@example.com")

    (mail,) = mails.mails
    link = f"https://desk.example.com/sign-in/link/{invited['link_token']}"
    assert invited["mailed"] == {"to": "grace@example.com", "problem": None}
    assert (mail["From"], mail["To"]) == ("desk@example.com", "grace@example.com")
    assert link in mail.get_content().splitlines()


def test_a_link_for_a_new_password_is_mailed_and_works_once(
    stack: Stack, tmp_path: Path, mails: Mailbox, port: int
) -> None:
    given = {"smtp_url": f"smtp://127.0.0.1:{port}", "mail_from": "desk@example.com"}
    with accounts_of(stack, tmp_path, **given) as accounts:
        name, person = accounts.person()
        admin, new = accounts.first_admin(), {"password": "five other random words"}
        admin.patch(f"/people/{name}", json={"email": "grace@example.com"}).raise_for_status()

        made = admin.post(f"/people/{name}/reset-link")
        link = f"/one-time-links/{made.json()['link_token']}"
        statuses = [accounts.visitor().post(link, json=new).status_code for _ in range(2)]
        ended = person.get("/account").status_code

    (mail,) = mails.mails
    assert made.status_code == 201
    assert mail["Subject"] == "Set a new password for Colloquy"
    assert made.json()["link_token"] in mail.get_content()
    assert statuses == [201, 410]
    assert ended == 401


@pytest.mark.parametrize(
    ("address", "problem"),
    [
        ("refused@example.com", "refused this address"),
        ("nobody", "not an address"),
        ("a@example.com\r\nBcc: all@example.com", "not an address"),
    ],
)
def test_a_mail_that_is_not_sent_leaves_the_link(
    stack: Stack, tmp_path: Path, mails: Mailbox, port: int, address: str, problem: str
) -> None:
    invited = invite(stack, tmp_path, f"smtp://127.0.0.1:{port}", address)

    assert invited["link_token"] and problem in invited["mailed"]["problem"]
    assert mails.mails == []


def test_a_server_that_does_not_answer_is_told(stack: Stack, tmp_path: Path) -> None:
    invited = invite(stack, tmp_path, f"smtp://127.0.0.1:{free_port()}", "grace@example.com")

    assert "does not answer" in invited["mailed"]["problem"]


@pytest.mark.parametrize(
    ("certified", "password", "problem"),
    [
        ("localhost", "right%20one", None),
        ("localhost", "wrong", "refused the name or the password"),
        ("other.example", "right%20one", "did not prove"),
    ],
)
def test_a_password_is_sent_encrypted_to_the_right_server_only(
    stack: Stack,
    tmp_path: Path,
    mails: Mailbox,
    monkeypatch: pytest.MonkeyPatch,
    certified: str,
    password: str,
    problem: str | None,
) -> None:
    told: list[bytes] = []

    def sign_in(
        server: SMTP, session: Session, envelope: Envelope, mechanism: str, given: LoginPassword
    ) -> AuthResult:
        told.append(given.password)
        return AuthResult(success=given == LoginPassword(b"desk", b"right one"), handled=False)

    (tmp_path / "mail.pem").write_bytes(certificate_for(certified))
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "mail.pem"))
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    tls.load_cert_chain(tmp_path / "mail.pem")
    options = {"authenticator": sign_in, "auth_require_tls": False}
    server = Tls(mails, hostname="127.0.0.1", port=free_port(), ssl_context=tls, **options)
    server.start()

    url = f"smtps://desk:{password}@localhost:{server.port}"
    invited = invite(stack, tmp_path, url, "grace@example.com")
    server.stop()

    said = invited["mailed"]["problem"]
    assert len(mails.mails) == (problem is None)
    assert said is None if problem is None else problem in said
    assert bool(told) == (certified == "localhost")
    assert password not in str(invited)


@pytest.mark.parametrize("offers_tls", [True, False])
def test_a_mail_leaves_this_machine_encrypted_or_not_at_all(
    tmp_path: Path, mails: Mailbox, monkeypatch: pytest.MonkeyPatch, *, offers_tls: bool
) -> None:
    (tmp_path / "mail.pem").write_bytes(certificate_for("mail.example"))
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "mail.pem"))
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    tls.load_cert_chain(tmp_path / "mail.pem")
    options = {"tls_context": tls, "require_starttls": True} if offers_tls else {}
    server = Controller(mails, hostname="127.0.0.1", port=free_port(), **options)
    server.start()
    mail = EmailMessage()
    mail["From"], mail["To"] = "desk@example.com", "grace@example.com"
    mail.set_content("Hello")
    elsewhere = Outgoing(permits_inside=True, resolve=lambda host, port: ["127.0.0.1"])

    try:
        deliver(mail, f"smtp://mail.example:{server.port}", elsewhere)
        is_sent = True
    except SMTPNotSupportedError:
        is_sent = False
    server.stop()

    assert is_sent == offers_tls
    assert len(mails.mails) == offers_tls


class Tls(Controller):
    """A mail server whose first word is encrypted."""

    def _trigger_server(self) -> None:
        """Say hello as a client of TLS: what it does by itself takes the server's side of it."""
        trusting = ssl.create_default_context()
        trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
        with trusting.wrap_socket(socket.create_connection((self.hostname, self.port))) as hello:
            hello.recv(100)
