"""Connections that a configuration names go only where the operator allows, whatever is written."""

import asyncio
import ssl
from collections.abc import Sequence

import httpcore
import httpx
import httpx2
import pytest
from pydantic import SecretStr

from backend.connections.probe import probe
from backend.errors.models import ModelUnavailable
from backend.errors.outgoing import AddressRefused
from backend.llm.connection import Connection, outgoing_of
from backend.llm.patience import Patience
from backend.llm.provider import ModelProvider
from backend.outgoing.addresses import read_address
from backend.outgoing.connecting import connect, guard
from backend.outgoing.policy import Outgoing, read_entries
from backend.settings import Settings
from tests.certificates import certificate_for

PUBLIC = "93.184.216.34"
# Each is a spelling of an address inside, or of a cloud's metadata.
SPELLINGS = [
    "127.0.0.1", "127.1", "127.0.0.1.", "2130706433", "0x7f000001", "0x7f.0.0.1", "0177.0.0.1",
    "017700000001", "127.255.255.254", "0.0.0.0", "0", "10.0.0.5", "10.5", "172.16.0.1",
    "192.168.1.1", "3232235777", "100.64.0.1", "169.254.169.254", "0xa9fea9fe", "2852039166",
    "169.254.170.2", "100.100.100.200", "168.63.129.16", "192.0.0.192", "198.18.0.1", "224.0.0.1",
    "240.0.0.1", "255.255.255.255", "[::]", "[::1]", "[0:0:0:0:0:0:0:1]", "[::127.0.0.1]",
    "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::ffff:a9fe:a9fe]", "[::ffff:0:127.0.0.1]",
    "[64:ff9b::7f00:1]", "[64:ff9b::a9fe:a9fe]", "[64:ff9b:1::1]", "[2002:7f00:1::]",
    "[2002:a9fe:a9fe::1]", "[2001::1]", "[2001:db8::1]", "[fc00::1]", "[fd00:ec2::254]",
    "[fd12:3456::1]", "[fe80::1]", "[fe80::1%25eth0]", "[fec0::1]", "[ff02::1]", "[100::1]",
]  # fmt: skip
METADATA = [
    "169.254.169.254", "0xa9fea9fe", "169.254.170.2", "100.100.100.200", "168.63.129.16",
    "192.0.0.192", "[::ffff:169.254.169.254]", "[64:ff9b::a9fe:a9fe]", "[2002:a9fe:a9fe::1]",
    "[fd00:ec2::254]", "[fd00:ec2::23]", "[fd20:ce::254]", "[fe80::a9fe:a9fe]",
]  # fmt: skip


class Names:
    """A resolver that gives one answer after the other; the last one stays."""

    def __init__(self, *answers: Sequence[str]) -> None:
        self.answers, self.asked = list(answers), []

    def __call__(self, host: str, port: int) -> Sequence[str]:
        self.asked.append((host, port))
        found = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if not found:
            raise OSError("Name or service not known")
        return found


class Network:
    """Stands in for httpcore's network: notes where a connection would go, and makes none."""

    def __init__(self, *dead: str) -> None:
        self.connected, self.dead = [], dead

    async def connect_tcp(self, host: str, port: int, **_):
        if host in self.dead:
            raise httpcore.ConnectError(host)
        self.connected.append((host, port))
        raise httpcore.ReadError("the test sends nothing")


def inside_refused(*answers: Sequence[str], allowed: str = "") -> Outgoing:
    return Outgoing(read_entries(allowed), resolve=Names(*answers))


def asked(outgoing: Outgoing, url: str, network: Network, **options) -> Exception:
    """Return how a request ends that a guarded client makes."""

    async def ask() -> Exception:
        async with httpx.AsyncClient(trust_env=False, **options) as client:
            client._transport._pool._network_backend = network
            with pytest.raises((AddressRefused, httpx.HTTPError, httpx.InvalidURL)) as raised:
                await guard(client, outgoing).get(url)
            return raised.value

    return asyncio.run(ask())


@pytest.mark.parametrize("host", SPELLINGS)
def test_an_address_inside_is_refused_in_every_spelling(host):
    network = Network()

    for url in (f"http://{host}/", f"https://{host}:8443/", f"http://user:word@{host}/"):
        # The client itself refuses to read a few of them.
        assert isinstance(asked(inside_refused(), url, network), AddressRefused | httpx.InvalidURL)
    with pytest.raises(AddressRefused):
        inside_refused().find(host.replace("%25", "%"), 443)
    assert network.connected == []


@pytest.mark.parametrize("host", ["127。0。0。1", "127｡0｡0｡1", "127．0．0．1"])  # noqa: RUF001  # the subject
def test_other_dots_of_names_are_dots_of_addresses(host):
    network = Network()

    assert isinstance(asked(inside_refused([]), f"http://{host}/", network), AddressRefused)
    assert network.connected == []


@pytest.mark.parametrize("host", METADATA)
def test_with_one_local_user_only_metadata_is_refused(host):
    outgoing = Outgoing(permits_inside=True, resolve=Names([str(read_address(host))]))

    assert outgoing.find("10.0.0.5", 80) == ["10.0.0.5"]
    for name in (host, "rebound.example"):
        with pytest.raises(AddressRefused):
            outgoing.find(name, 80)


def test_one_address_inside_among_others_refuses_the_name():
    outgoing = inside_refused([PUBLIC, "10.0.0.5"])

    with pytest.raises(AddressRefused):
        outgoing.find("mixed.example", 443)


def test_what_is_connected_to_is_what_was_checked():
    names, network = Names([PUBLIC], ["127.0.0.1"]), Network()
    outgoing = Outgoing(resolve=names)

    asked(outgoing, "https://rebinding.example/", network)

    assert network.connected == [(PUBLIC, 443)] and len(names.asked) == 1


def test_the_next_address_is_tried_when_the_first_is_dead():
    network = Network("2606:2800:220:1::1")

    asked(inside_refused(["2606:2800:220:1::1", PUBLIC]), "http://two.example:81/", network)

    assert network.connected == [(PUBLIC, 81)]


def test_nobody_learns_which_names_exist_inside(caplog):
    missing, existing = inside_refused([]), inside_refused(["10.0.0.5"])

    said = {str(asked(one, "http://vault.internal/", Network())) for one in (missing, existing)}

    assert len(said) == 1 and "10.0.0.5" not in said.pop()
    assert "10.0.0.5 is private" in caplog.text and "cannot be resolved" in caplog.text


@pytest.mark.parametrize(
    ("allowed", "host", "port", "address", "is_allowed"),
    [
        ("10.1.0.0/16", "any.example", 443, "10.1.2.3", True),
        ("10.1.0.0/16", "any.example", 443, "10.2.2.3", False),
        ("10.0.0.5", "10.0.0.5", 8080, "10.0.0.5", True),
        ("10.0.0.5:8080", "10.0.0.5", 8080, "10.0.0.5", True),
        ("10.0.0.5:8080", "10.0.0.5", 8081, "10.0.0.5", False),
        ("10.0.0.5", "::ffff:10.0.0.5", 80, "::ffff:10.0.0.5", True),
        ("jira.internal", "JIRA.internal.", 80, "10.0.0.5", True),
        ("jira.internal:8443", "jira.internal", 443, "10.0.0.5", False),
        ("jira.internal", "my-jira.internal", 80, "10.0.0.5", False),
        ("a.example, [fd00::5]:8080", "b.example", 8080, "fd00::5", True),
        ("::1", "localhost", 80, "::1", True),
        # Neither a name nor a large network means metadata.
        ("jira.internal", "jira.internal", 80, "169.254.169.254", False),
        ("0.0.0.0/0", "any.example", 80, "169.254.169.254", False),
        ("0.0.0.0/0", "any.example", 80, "127.0.0.1", True),
        ("169.254.169.254", "any.example", 80, "169.254.169.254", True),
    ],
)
def test_the_operator_lists_hosts_and_networks(allowed, host, port, address, is_allowed):
    outgoing = inside_refused([address], allowed=allowed)

    try:
        (found,) = outgoing.find(host, port)
        assert read_address(found) == read_address(address) and is_allowed
    except AddressRefused:
        assert not is_allowed


@pytest.mark.parametrize(
    "wrong",
    ["https://a.example", "a.example/x", "10.0.0.1/8", "10.0.0.0/33", "*", "a:0", "a:70000"],
)
def test_a_list_that_cannot_be_read_is_refused_at_the_start(wrong):
    with pytest.raises(ValueError, match="networks, comma-separated"):
        Settings(_env_file=None, outgoing_allowed=wrong)


def test_accounts_decide_whether_addresses_inside_need_an_entry():
    laptop, company = (Settings(_env_file=None, auth=auth).outgoing for auth in ("none", "local"))

    assert laptop.find("127.0.0.1", 11434) == ["127.0.0.1"]
    with pytest.raises(AddressRefused):
        company.find("127.0.0.1", 11434)
    assert company.trusting("http://127.0.0.1:11434/v1").find("127.0.0.1", 11434)
    with pytest.raises(AddressRefused):
        company.trusting("http://127.0.0.1:11434/v1").find("127.0.0.1", 5432)


def test_a_redirect_is_a_connection_like_others():
    class Redirects(Network):
        async def connect_tcp(self, host: str, port: int, **_):
            self.connected.append((host, port))
            return httpcore.AsyncMockStream(
                [b"HTTP/1.1 302 Found\r\nlocation: http://inside.example/\r\n\r\n"]
            )

    network = Redirects()
    outgoing = inside_refused([PUBLIC], ["10.0.0.5"])

    error = asked(outgoing, "http://outside.example/", network, follow_redirects=True)

    assert isinstance(error, AddressRefused) and network.connected == [(PUBLIC, 80)]


@pytest.mark.parametrize("library", [httpx, httpx2])
def test_a_proxy_of_the_environment_is_not_asked_for_an_address_inside(monkeypatch, library):
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")  # nothing listens there

    async def ask(host: str) -> None:
        async with guard(library.AsyncClient(), inside_refused([])) as client:
            await client.get(f"https://{host}/")

    for host in ("127.1", "localhost", "[::ffff:10.0.0.5]", "a.localhost"):
        with pytest.raises(AddressRefused):
            asyncio.run(ask(host))
    with pytest.raises(library.ConnectError):  # of the proxy
        asyncio.run(ask("proxied.example"))


@pytest.mark.parametrize("library", [httpx, httpx2])
def test_clients_without_a_loop_and_other_protocols_go_the_same_way(library):
    with library.Client(trust_env=False) as client, pytest.raises(AddressRefused):
        guard(client, inside_refused(["10.0.0.5"])).get("http://vault.internal/")
    with pytest.raises(AddressRefused):
        connect(inside_refused(["10.0.0.5"]), "mail.internal", 25, 1)


def test_a_models_endpoint_inside_is_neither_tested_nor_asked():
    settings = Settings(_env_file=None, auth="local")
    connection = Connection("http://127.0.0.1:9/v1", SecretStr(""), "large")
    patience = Patience(first_token_seconds=5, silence_seconds=5, tries=1)

    async def ask() -> str:
        model = ModelProvider(settings, patience, connection).chat_model()
        with pytest.raises(ModelUnavailable) as raised:
            await model.ainvoke("anything")
        with pytest.raises(ModelUnavailable):
            model.invoke("anything")
        return raised.value.detail

    tested = asyncio.run(probe(connection, outgoing_of(settings)))

    assert AddressRefused().reason in tested.detail
    assert AddressRefused().reason in asyncio.run(ask())


def test_the_environments_own_endpoint_needs_no_entry():
    url = "http://127.0.0.1:11434/v1"
    settings = Settings(_env_file=None, auth="local", openai_base_url=url)

    assert outgoing_of(settings).find("127.0.0.1", 11434)
    with pytest.raises(AddressRefused):
        settings.outgoing.find("127.0.0.1", 11434)  # a tool server may not use it


def test_tls_verifies_the_name_although_the_address_is_pinned(tmp_path):
    async def answer(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")
        await writer.drain()

    async def ask(*names: str) -> list[str]:
        (tmp_path / "named.pem").write_bytes(certificate_for("named.example"))
        ours = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        ours.load_cert_chain(tmp_path / "named.pem")
        theirs = ssl.create_default_context(cafile=tmp_path / "named.pem")
        outgoing = Outgoing(permits_inside=True, resolve=Names(["127.0.0.1"]))
        server = await asyncio.start_server(answer, "127.0.0.1", 0, ssl=ours)
        port = server.sockets[0].getsockname()[1]
        found = []
        client = guard(httpx.AsyncClient(trust_env=False, verify=theirs), outgoing)
        async with server, client:
            for name in names:
                try:
                    found.append(str(await client.get(f"https://{name}:{port}")))
                except httpx.ConnectError as error:
                    found.append(str(error))
        return found

    right, wrong = asyncio.run(ask("named.example", "other.example"))

    assert "200 OK" in right
    assert "certificate is not valid for 'other.example'" in wrong
