"""What tools gave beside words: shown from our own store, and only what is harmless to show."""

import io
from uuid import uuid4

import pytest
from PIL import Image

from colloquy_kit.messages.kinds import ContentType, MessageType
from tests.ui.seen import words
from ui.features.chat.messages.files import download_name
from ui.shared.formats.images import is_image

SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><image href="http://h/x.png"/></svg>'


def png(width=4, height=3):
    written = io.BytesIO()
    Image.new("RGB", (width, height), "green").save(written, "PNG")
    return written.getvalue()


@pytest.fixture
def shows(open_page, store):
    """The chat page with one file of a tool."""

    def open_with(data, mime_type="image/png", content_type=ContentType.IMAGE, name=""):
        session, result_id = store.add_session(), str(uuid4())
        store.files[result_id] = data
        content = {"name": name, "mime_type": mime_type, "bytes": len(data), "tool": "plot"}
        metadata = {"result_id": result_id}
        store.add_row(session, MessageType.TOOL, content_type, content, metadata=metadata)
        return open_page(session=session.id)

    return open_with


def test_an_image_is_shown_with_where_it_comes_from(shows):
    page = shows(png())

    assert not page.exception
    assert len(page.get("image")) == 1
    assert "from plot" in words(page)


def downloads(page):
    """The downloads in the conversation: those of the header are of all of it."""
    buttons = [button.proto for button in page.get("download_button")]
    return [button for button in buttons if "export-" not in button.id]


@pytest.mark.parametrize("data", [SVG, b"", b"no image", b"\x89PNG\r\n\x1a\n broken"])
def test_what_is_no_plain_image_is_a_download(shows, data):
    page = shows(data)

    assert not page.exception
    assert not page.get("image")
    assert len(downloads(page)) == 1


def test_a_sound_is_heard_and_another_file_is_a_download(shows):
    heard = shows(b"RIFF....", "audio/wav", ContentType.FILE)
    assert len(heard.get("audio")) == 1

    file = shows(b"{}", "application/json", ContentType.FILE, "result.json")
    assert "result" in downloads(file)[0].label


def test_an_image_that_unfolds_to_any_size_is_not_opened():
    assert is_image(png(100, 100))
    huge = bytearray(png())
    huge[16:24] = (60_000).to_bytes(4, "big") * 2
    assert not is_image(bytes(huge))


def test_a_files_name_is_no_path_and_no_disguise():
    assert download_name("../../etc/passwd") == "etc-passwd"
    assert download_name("txt.\u202egpj.exe") == "txt.-gpj.exe"
    assert download_name("") == "file"
