"""Who may ask the servers, byte by byte: hosts, origins, and what browsers say of a request."""

import re
import socket
from urllib.parse import urlsplit

import httpx
import pytest

from tests.processes import stop_process
from tests.stack import Stack

API = ("GET /healthz", "GET /api/v1/sessions", "POST /api/v1/sessions", "GET /api/docs")
API += ("OPTIONS /api/v1/chat", "HEAD /api/openapi.json", "GET /nowhere")
PAGES = ("GET /", "GET /_stcore/health", "GET /_stcore/host-config", "GET /media/none.png")
PAGES += ("PUT /_stcore/upload_file/a/b", "GET /component/none/index.html", "WS /_stcore/stream")
PAGES += ("GET /favicon.png", "POST /_stcore/agent/interact", "WS /colloquy/live")
PAGES += ("POST /colloquy/api/chat", "DELETE /colloquy/api/sessions/x")
MODEL = ("GET /healthz", "POST /v1/chat/completions")
TARGETS = [*(f"api {one}" for one in API), *(f"pages {one}" for one in PAGES)]
TARGETS += [f"model {one}" for one in MODEL]

FOREIGN_HOSTS = [
    "Host: evil.example",
    "Host: evil.example:{port}",
    "Host: 127.0.0.1.evil.example:{port}",
    "Host: localhost.:{port}",
    "Host: 127.1:{port}",
    "Host: 0.0.0.0:{port}",
    "Host: [::ffff:127.0.0.1]:{port}",
    "Host: evil.example@127.0.0.1:{port}",
    "Host: 127.0.0.1:{port}@evil.example",
    "Host: 127.0.0.1:{port}, evil.example",
    "Host: 127.0.0.1:{port}/evil.example",
    "Host: http://127.0.0.1:{port}",
    "Host: 127.0.0.1:99999",
    "Host: [::1",
    "Host:",
    "Host: evil.example\r\nX-Forwarded-Host: 127.0.0.1:{port}",
    "Host: evil.example\r\nForwarded: host=127.0.0.1:{port}",
    "Host: evil.example:{port}\r\nOrigin: http://evil.example:{port}",
    "Host: evil.example:{port}\r\nSec-Fetch-Site: same-origin",
]
OWN = "Host: 127.0.0.1:{port}\r\n"
FOREIGN_PAGES = [
    OWN + "Origin: https://evil.example",
    OWN + "Origin: http://127.0.0.1:9999",
    OWN + "Origin: http://127.0.0.1",
    OWN + "Origin: https://127.0.0.1:{port}",
    OWN + "Origin: http://localhost:9999",
    OWN + "Origin: http://127.0.0.1:{port}.evil.example",
    OWN + "Origin: http://127.0.0.1:{port}/",
    OWN + "Origin: HTTP://127.0.0.1:{port}",
    OWN + "Origin: http://evil@127.0.0.1:{port}",
    OWN + "Origin: http://[x",
    OWN + "Origin: null",
    OWN + "Origin:",
    OWN + "Origin: file://",
    OWN + "Origin: http://127.0.0.1:{port} http://evil.example",
    OWN + "Origin: http://127.0.0.1:{port}\r\nSec-Fetch-Site: cross-site",
    OWN + "Sec-Fetch-Site: cross-site",
    OWN + "Sec-Fetch-Site: same-site",
    OWN + "Sec-Fetch-Site: anything",
    OWN + "Sec-Fetch-Site: same-origin\r\nSec-Fetch-Site: cross-site",
    OWN + "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: iframe",
    OWN + "Sec-Fetch-Site: same-site\r\nSec-Fetch-Mode: no-cors\r\nSec-Fetch-Dest: image",
    OWN + "Origin: null\r\nSec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\n"
    "Sec-Fetch-Dest: document",
]
OWN_REQUESTS = [
    "Host: 127.0.0.1:{port}",
    "Host: localhost:{port}",
    "Host: LOCALHOST:{port}",
    "Host: [::1]:{port}",
    "Host: 127.0.0.1",
    "Host: 127.0.0.1:{port}\r\nX-Forwarded-Host: evil.example",
    OWN + "Origin: http://127.0.0.1:{port}\r\nSec-Fetch-Site: same-origin",
    "Host: localhost:{port}\r\nOrigin: http://localhost:{port}",
    OWN + "Sec-Fetch-Site: none\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document",
]
FOLLOWED_LINKS = [
    OWN + "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document",
    OWN + "Sec-Fetch-Site: same-site\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document",
]
HANDSHAKE = (
    "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
)
PUBLIC = "https://desk.example.com"


@pytest.fixture(scope="module")
def ports(demo_stack: Stack) -> dict[str, int]:
    """Where the three servers listen."""
    urls = {"pages": demo_stack.start_ui(), "model": demo_stack.environment["DEMO_MODEL_URL"]}
    return {"api": demo_stack.api_port} | {
        name: urlsplit(url).port or 0 for name, url in urls.items()
    }


@pytest.fixture(scope="module")
def public_pages(demo_stack: Stack) -> int:
    """Pages that people reach at an address of their own, through a proxy that speaks https."""
    options = ("--public-url", PUBLIC, "--allowed-hosts", "desk.internal:9000")
    return urlsplit(demo_stack.start_ui(*options)).port or 0


@pytest.mark.parametrize("target", TARGETS)
def test_a_foreign_host_name_gets_nothing(ports: dict[str, int], target: str) -> None:
    for headers in FOREIGN_HOSTS:
        answer = ask(ports, target, headers)

        assert answer.status == 421, (headers, answer)
        check_headers(answer)


@pytest.mark.parametrize("target", TARGETS)
def test_two_hosts_are_none(ports: dict[str, int], target: str) -> None:
    for headers in (OWN + "Host: evil.example", "Host: evil.example\r\n" + OWN.strip()):
        answer = ask(ports, target, headers)

        assert answer.status == 400, answer


@pytest.mark.parametrize("target", TARGETS)
def test_two_origins_are_none(ports: dict[str, int], target: str) -> None:
    own, foreign = "Origin: http://127.0.0.1:{port}", "Origin: http://evil.example"
    for origins in (f"{own}\r\n{foreign}", f"{foreign}\r\n{own}"):
        answer = ask(ports, target, OWN + origins)

        # The library of WebSockets refuses before anything of ours is asked.
        assert answer.status == (400 if " WS " in target else 403), answer


@pytest.mark.parametrize("target", TARGETS)
def test_a_foreign_page_gets_nothing(ports: dict[str, int], target: str) -> None:
    for headers in FOREIGN_PAGES:
        answer = ask(ports, target, headers)

        assert answer.status == 403, (headers, answer)
        assert not [name for name in answer.headers if name.startswith("access-control-")]
        check_headers(answer)


@pytest.mark.parametrize("target", TARGETS)
def test_programs_and_pages_of_our_own_are_served(ports: dict[str, int], target: str) -> None:
    for headers in OWN_REQUESTS:
        answer = ask(ports, target, headers)

        assert answer.status != 421, (headers, answer)
        assert "Foreign page" not in answer.body, (headers, answer)
        check_headers(answer)


@pytest.mark.parametrize("target", TARGETS)
def test_a_link_may_lead_here_and_a_form_may_not(ports: dict[str, int], target: str) -> None:
    is_link = " GET " in target
    for headers in FOLLOWED_LINKS:
        answer = ask(ports, target, headers)

        assert ("Foreign page" not in answer.body and answer.status != 403) == is_link, answer


def test_nothing_was_made_meanwhile(demo_stack: Stack, ports: dict[str, int]) -> None:
    before = demo_stack.client.get("/sessions").json()

    for headers in (*FOREIGN_HOSTS, *FOREIGN_PAGES):
        ask(ports, "api POST /api/v1/sessions", headers)

    assert demo_stack.client.get("/sessions").json() == before


@pytest.mark.parametrize("headers", OWN_REQUESTS)
def test_a_socket_of_our_own_page_opens(ports: dict[str, int], headers: str) -> None:
    assert ask(ports, "pages WS /_stcore/stream", headers).status == 101


def test_the_name_in_an_absolute_target_opens_nothing(ports: dict[str, int]) -> None:
    """RFC 9112, 3.2.2; the server drops it, so that the Host decides, as for all others."""
    for server in ports:
        target = f"{server} GET http://127.0.0.1:{ports[server]}/healthz"

        assert ask(ports, target, "Host: evil.example").status == 421


def test_a_request_without_a_host_is_refused(ports: dict[str, int]) -> None:
    for server in ports:
        assert ask(ports, f"{server} GET /healthz", "Accept: */*").status in (400, 421)


def test_the_public_address_is_served_whole(public_pages: int) -> None:
    ports = {"pages": public_pages}
    headers = f"Host: desk.example.com\r\nOrigin: {PUBLIC}\r\nSec-Fetch-Site: same-origin"

    page = ask(ports, "pages GET /_stcore/health", headers)

    assert page.status == 200
    assert "; Secure" in page.headers["set-cookie"]
    assert page.headers["strict-transport-security"] == "max-age=31536000; includeSubDomains"
    assert ask(ports, "pages WS /_stcore/stream", headers).status == 101
    further = "Host: desk.internal:9000\r\nOrigin: https://desk.internal:9000"
    assert ask(ports, "pages WS /_stcore/stream", further).status == 101
    for own in (headers, further):
        assert ask(ports, "pages DELETE /colloquy/api/sessions/x", own).status in (404, 422)
    other = "Host: desk.internal:9000\r\nOrigin: " + PUBLIC
    assert ask(ports, "pages DELETE /colloquy/api/sessions/x", other).status == 403


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ("Host: desk.example.com:{port}", 421),
        ("Host: desk.internal", 421),
        ("Host: sub.desk.example.com", 421),
        ("Host: desk.example.com\r\nOrigin: http://desk.example.com", 403),
        ("Host: desk.example.com\r\nOrigin: https://desk.example.com:8443", 403),
    ],
)
def test_what_only_looks_like_the_public_address_is_refused(
    public_pages: int, headers: str, status: int
) -> None:
    for target in ("pages GET /", "pages WS /_stcore/stream"):
        assert ask({"pages": public_pages}, target, headers).status == status


def test_cookies_of_plain_http_are_not_marked_for_https(public_pages: int) -> None:
    answer = httpx.get(f"http://127.0.0.1:{public_pages}/_stcore/health")

    assert "secure" not in answer.headers["set-cookie"].lower()
    assert "strict-transport-security" not in answer.headers


def test_what_an_answer_redirects_to_has_the_public_scheme(own_stack: Stack) -> None:
    own_stack.environment["PUBLIC_URL"] = PUBLIC
    assert own_stack.api
    stop_process(own_stack.api)
    own_stack.start_api()

    answer = ask({"api": own_stack.api_port}, "api GET /api/v1/domains/", "Host: desk.example.com")

    assert answer.status == 307
    assert answer.headers["location"] == f"{PUBLIC}/api/v1/domains"


def test_what_fails_unexpectedly_carries_the_headers_too(own_stack: Stack) -> None:
    own_stack.query_and_commit("DROP TABLE domains CASCADE")

    answer = httpx.get(f"{own_stack.base_url}/api/v1/domains")

    assert answer.status_code == 500
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["content-security-policy"].startswith("default-src 'none'")
    assert answer.headers["cache-control"] == "no-store"


class Answer:
    """What came back, as far as it matters here."""

    def __init__(self, raw: str) -> None:
        head, _, self.body = raw.partition("\r\n\r\n")
        first, *lines = head.split("\r\n")
        self.status = int(first.split()[1])
        self.headers = {
            name.lower(): value for name, _, value in (line.partition(": ") for line in lines)
        }

    def __repr__(self) -> str:
        return f"{self.status} {self.headers} {self.body[:200]}"


def ask(ports: dict[str, int], target: str, headers: str) -> Answer:
    """Send one request as it is written, and read the answer's beginning."""
    server, method, path = target.split(" ")
    extra = HANDSHAKE if method == "WS" else "Connection: close\r\nContent-Length: 0\r\n"
    first = f"{'GET' if method == 'WS' else method} {path} HTTP/1.1"
    head = f"{first}\r\n{headers.format(port=ports[server])}\r\n{extra}\r\n"
    with socket.create_connection(("127.0.0.1", ports[server]), timeout=30) as connection:
        connection.sendall(head.encode())
        raw = b""
        while b"\r\n\r\n" not in raw or _is_short(raw):
            piece = connection.recv(65536)
            if not piece:
                break
            raw += piece
    return Answer(raw.decode("latin-1"))


def _is_short(raw: bytes) -> bool:
    head, _, body = raw.partition(b"\r\n\r\n")
    length = re.search(rb"content-length: (\d+)", head, re.IGNORECASE)
    return bool(length) and len(body) < min(int(length[1]), 500)


def check_headers(answer: Answer) -> None:
    """Each answer of HTTP carries the headers; what becomes a WebSocket has no page."""
    if answer.status == 101:
        return
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["x-frame-options"] == "DENY"
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert answer.headers["cross-origin-resource-policy"] == "same-origin"
    assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
