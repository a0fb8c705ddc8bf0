"""Cookies of sign-ins, and where a browser goes after one."""

import pytest
from starlette.requests import HTTPConnection
from starlette.responses import Response

from ui import cookies
from ui.sign_in.places import own_path, sign_in_path

TOKEN = "cqs_" + "a" * 43


def connection(host: str, scheme: str = "http", **sent: str) -> HTTPConnection:
    cookie = "; ".join(f"{name}={value}" for name, value in sent.items())
    headers = [(b"host", host.encode()), (b"cookie", cookie.encode("latin-1"))]
    return HTTPConnection({"type": "http", "scheme": scheme, "headers": headers, "path": "/"})


@pytest.mark.parametrize(
    ("host", "scheme", "name"),
    [
        ("desk.example.com", "https", "__Host-colloquy"),
        ("desk.example.com", "wss", "__Host-colloquy"),
        ("127.0.0.1:8501", "http", "colloquy"),
        ("localhost:9000", "ws", "colloquy"),
        ("[::1]:8501", "http", "colloquy"),
        ("localhost", "https", "__Host-colloquy"),
        ("desk.example.com", "http", None),
        ("127.0.0.1.example.com", "http", None),
        ("", "http", None),
    ],
)
def test_a_cookie_is_named_so_that_only_this_host_can_set_it(host, scheme, name):
    assert cookies.name_for(connection(host, scheme)) == name


def test_a_cookie_is_kept_from_scripts_and_other_sites():
    response = Response()

    cookies.set_token(connection("desk.example.com", "https"), response, TOKEN)

    (written,) = response.headers.getlist("set-cookie")
    assert written == f"__Host-colloquy={TOKEN}; HttpOnly; Path=/; SameSite=lax; Secure"


def test_a_visit_to_a_provider_is_kept_for_minutes_and_read_as_it_was_written():
    response, visit = Response(), cookies.Visit("k" * 43, "/data?a=é&b=;")

    cookies.set_visit(connection("desk.example.com", "https"), response, visit, 600)

    (written,) = response.headers.getlist("set-cookie")
    name, _, value = written.partition(";")[0].partition("=")
    assert name == "__Host-colloquy-visit"
    assert written.partition(";")[2] == " HttpOnly; Max-Age=600; Path=/; SameSite=lax; Secure"
    kept = connection("desk.example.com", "https", **{name: value})
    assert cookies.find_visit(kept) == visit
    assert cookies.find_visit(connection("127.0.0.1", **{name: value})) is None


@pytest.mark.parametrize("value", ["", ".", "short./", "é" * 43, "k" * 44 + "./"])
def test_what_no_visit_has_written_is_no_visit(value):
    sent = {"colloquy-visit": value}
    assert cookies.find_visit(connection("127.0.0.1", **sent)) is None


def test_over_https_a_cookie_that_another_host_may_have_set_counts_for_nothing():
    given = connection("desk.example.com", "https", colloquy=TOKEN)

    assert cookies.find_token(given) is None


@pytest.mark.parametrize("token", ["", "nonsense", "cqt_" + "a" * 43, "cqs_" + "a" * 500, "cqs_é"])
def test_what_is_no_token_of_a_sign_in_is_passed_on_to_nobody(token):
    assert cookies.token_of({"colloquy": token}) is None


@pytest.mark.parametrize("place", ["/", "/data", "/?session=1", "/shared?link=a%2Fb&x=%0A"])
def test_a_browser_returns_to_a_path_of_our_own(place):
    assert own_path(place) == place


@pytest.mark.parametrize(
    "place",
    [
        None,
        "",
        "data",
        "https://evil.example",
        "//evil.example",
        "///evil.example",
        "/\\evil.example",
        "\\\\evil.example",
        "/\t/evil.example",
        "\n//evil.example",
        " //evil.example",
        "javascript:alert(1)",
        "http:/data",
        "//[",
        "/sign-in",
        "/sign-in/link/x",
        "/" + "a" * 3_000,
    ],
)
def test_a_browser_is_sent_nowhere_else(place):
    assert own_path(place) == "/"


def test_the_sign_in_page_remembers_the_place():
    assert sign_in_path("/?session=1&x=2") == "/sign-in?next=%2F%3Fsession%3D1%26x%3D2"
    assert sign_in_path("//evil.example") == "/sign-in"
