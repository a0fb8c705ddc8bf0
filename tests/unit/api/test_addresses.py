"""Which hosts and origins are a server's own, by its settings."""

import pytest

from backend.addresses import Address, http_url, read_host
from backend.configuration import read_settings
from backend.errors.base import ConfigurationError


@pytest.mark.parametrize(
    ("text", "host"),
    [
        ("127.0.0.1:8501", ("127.0.0.1", 8501)),
        ("LocalHost:8501", ("localhost", 8501)),
        ("desk.example.com", ("desk.example.com", None)),
        ("[::1]:8501", ("::1", 8501)),
        ("[0:0:0:0:0:0:0:1]", ("::1", None)),
    ],
)
def test_a_host_is_read_as_programs_write_it(text, host):
    assert read_host(text) == host


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", ":80", "a:", "a:b", "a:65536", "u@a", "u:p@a:80", "a/b", "a b", "a,b", "a."),
        *("[::1", "[x]", "[127.0.0.1]", "::1", "*.example.com", "a\x00", "bücher.example", "a#b"),
    ],
)
def test_what_is_no_single_host_is_not_guessed(text):
    assert read_host(text) is None


def test_without_settings_loopback_on_the_port_in_use_is_own():
    address = Address("127.0.0.1", 8501)

    assert address.origins == {
        "http://127.0.0.1:8501",
        "http://localhost:8501",
        "http://[::1]:8501",
    }
    assert ("localhost", 8501) in address.schemes
    assert ("localhost", 8502) not in address.schemes
    assert address.url == "http://127.0.0.1:8501"


def test_the_address_to_listen_on_is_own():
    assert "http://127.0.0.7:8501" in Address("127.0.0.7", 8501).origins
    assert ("::1", 8501) in Address("[::1]", 8501).schemes


def test_the_public_url_is_own_and_is_what_people_are_told():
    address = Address("127.0.0.1", 8501, "https://desk.example.com")

    assert address.url == "https://desk.example.com"
    assert "https://desk.example.com" in address.origins
    assert not {"http://desk.example.com", "https://desk.example.com:8501"} & address.origins
    assert address.schemes["desk.example.com", None] == "https"
    assert address.schemes["desk.example.com", 443] == "https"
    assert ("desk.example.com", 8501) not in address.schemes


def test_further_hosts_are_reached_as_the_public_url_is():
    address = Address("127.0.0.1", 8501, "https://a.example", "b.example, c.example:9000")

    assert {"https://b.example", "https://c.example:9000"} <= address.origins
    assert address.schemes["c.example", 9000] == "https"
    assert ("c.example", None) not in address.schemes


def test_a_further_host_without_a_port_is_reached_through_a_proxy_and_without():
    address = Address("127.0.0.1", 8501, allowed_hosts="desk")

    assert {"http://desk", "http://desk:8501"} <= address.origins
    assert "https://desk" not in address.origins


def test_addresses_of_ipv6_hosts_are_bracketed():
    assert http_url("::1", 8501) == "http://[::1]:8501"


@pytest.mark.parametrize(
    "url",
    [
        *("desk.example.com", "ftp://desk", "https://", "https://desk/colloquy", "https://*"),
        *("https://u:secret@desk", "https://desk?x=1", "https://desk:x", "http://[::1"),
    ],
)
def test_a_public_url_that_is_no_origin_is_refused(monkeypatch, url):
    monkeypatch.setenv("PUBLIC_URL", url)

    with pytest.raises(
        ConfigurationError, match=r"^PUBLIC_URL is not usable: must be http"
    ) as says:
        read_settings()
    assert "secret" not in says.value.detail


@pytest.mark.parametrize("hosts", ["*", "*.example.com", "https://desk", "a b", "a,b/c", "a:x"])
def test_an_allowed_host_that_is_none_is_refused(monkeypatch, hosts):
    monkeypatch.setenv("ALLOWED_HOSTS", hosts)

    with pytest.raises(ConfigurationError, match=r"^ALLOWED_HOSTS is not usable: must be host"):
        read_settings()


def test_an_address_of_the_api_that_is_none_is_refused(monkeypatch):
    monkeypatch.setenv("API_URL", "http://10.0.0.11:8000,10.0.0.12:8000")

    with pytest.raises(
        ConfigurationError, match=r"^API_URL is not usable: must be one address or several"
    ):
        read_settings()


def test_a_public_url_is_kept_as_browsers_write_it(monkeypatch):
    monkeypatch.setenv("PUBLIC_URL", "HTTPS://Desk.Example.com:443/")

    assert read_settings().public_url == "https://desk.example.com"
