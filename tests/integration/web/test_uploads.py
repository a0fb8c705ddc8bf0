"""Files on their way from a browser through the pages' server to the API."""

import re
import socket
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from tests.conftest import make_stack
from tests.fakes import ScriptedModel
from tests.integration.scenes import make_session
from tests.stack import Servers, Stack

MEGABYTE = 1_000_000
MOST = 80
PATH = "/colloquy/api/files"
BORDER = "border"
HEAD = (
    f'--{BORDER}\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n'
    "Content-Type: text/csv\r\n\r\n"
).encode()
END = f"\r\n--{BORDER}--\r\n".encode()


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("uploads")


@pytest.fixture(scope="module")
def desk(servers: Servers, model: ScriptedModel, home: Path) -> Iterator[Stack]:
    with make_stack(servers, model, home, MAX_FILE_MB=str(MOST)) as running:
        yield running


@pytest.fixture(scope="module")
def pages(desk: Stack) -> Iterator[httpx.Client]:
    url = desk.start_ui()
    with httpx.Client(base_url=url, headers={"Origin": url}, timeout=60) as client:
        yield client


def arriving(home: Path) -> list[Path]:
    return list((home / "files").glob(".incoming-*"))


def form(megabytes: int) -> Iterator[bytes]:
    yield HEAD
    for _ in range(megabytes):
        yield b"\0" * MEGABYTE
    yield END


def most_memory(desk: Stack) -> int:
    """Return the most that the pages' process has ever held, in megabytes."""
    status = Path(f"/proc/{desk.others[-1].pid}/status").read_text()
    (kilobytes,) = re.findall(r"VmHWM:\s+(\d+) kB", status)
    return int(kilobytes) // 1_000


def test_a_file_is_uploaded_into_a_session_and_comes_back_as_it_was(
    desk: Stack, pages: httpx.Client
) -> None:
    content = b"name,amount\nRent,100\nFood,50\n"
    session = make_session(desk)

    made = pages.post(PATH, files={"file": ("Größe.csv", content)}, data={"session_id": session})
    plain = {"Accept-Encoding": "identity"}
    back = pages.get(f"{PATH}/{made.json()['id']}/content", headers=plain)

    assert (made.status_code, made.json()["name"]) == (201, "Größe.csv")
    assert made.headers["location"].endswith(made.json()["id"])
    assert back.content == content
    assert back.headers["content-length"] == str(len(content))


@pytest.mark.parametrize("is_told", [True, False], ids=["of told length", "in chunks"])
def test_no_server_holds_an_upload_in_memory(
    desk: Stack, pages: httpx.Client, home: Path, is_told: bool
) -> None:
    size = MOST - 10
    headers = {"Content-Type": f"multipart/form-data; boundary={BORDER}"}
    if is_told:
        headers["Content-Length"] = str(len(HEAD) + size * MEGABYTE + len(END))
    pages.get("/colloquy/api/server")
    before = most_memory(desk)

    answer = pages.post(PATH, content=form(size), headers=headers)

    assert (answer.status_code, answer.json()["size"]) == (201, size * MEGABYTE)
    assert most_memory(desk) - before < 20
    assert not arriving(home)


@pytest.mark.parametrize("is_told", [True, False], ids=["of told length", "in chunks"])
def test_a_file_that_is_too_large_is_refused_in_the_apis_words(
    pages: httpx.Client, home: Path, is_told: bool
) -> None:
    size = MOST + 30
    headers = {"Content-Type": f"multipart/form-data; boundary={BORDER}"}
    if is_told:
        headers["Content-Length"] = str(len(HEAD) + size * MEGABYTE + len(END))

    answer = pages.post(PATH, content=form(size), headers=headers)

    assert answer.status_code == 413
    assert f"larger than the limit of {MOST} MB" in answer.json()["detail"]
    assert not arriving(home)


@pytest.mark.parametrize(
    "how",
    [
        pytest.param("broken off"),
        pytest.param("slow", marks=pytest.mark.security),  # it takes the server's patience
    ],
)
def test_an_upload_that_does_not_arrive_leaves_nothing_behind(
    desk: Stack, pages: httpx.Client, home: Path, how: str
) -> None:
    url = urlsplit(str(pages.base_url))
    origin = f"http://{url.netloc}"
    before = len(pages.get(PATH).json()["items"])
    with socket.create_connection((url.hostname or "", url.port or 0)) as sent:
        sent.sendall(
            f"POST {PATH} HTTP/1.1\r\nHost: {url.netloc}\r\nOrigin: {origin}\r\nContent-Type: "
            f"multipart/form-data; boundary={BORDER}\r\nContent-Length: 9000000\r\n\r\n".encode()
            + HEAD
            + b"\0" * 3_000_000
        )
        desk.wait_for(lambda: arriving(home), "it does not begin to arrive")
        if how == "slow":
            assert b" 408 " in sent.recv(1_000).split(b"\r\n")[0]

    desk.wait_for(lambda: not arriving(home), "what has arrived stays")
    assert len(pages.get(PATH).json()["items"]) == before
    assert "Traceback" not in desk.log.read_text()
