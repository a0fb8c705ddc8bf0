"""Hands files to a page as a person does: dropped on it, or pasted."""

import base64
from collections.abc import Mapping
from pathlib import Path

from playwright.sync_api import Locator

from tests.e2e.desk import Desk

# A browser pastes files that another program has copied; these are made on the page.
PASTE = """(element, files) => {
  const clipboardData = new DataTransfer();
  for (const [name, content] of files) {
    const bytes = Uint8Array.from(atob(content), (sign) => sign.charCodeAt(0));
    clipboardData.items.add(new File([bytes], name));
  }
  const options = { bubbles: true, cancelable: true, composed: true, clipboardData };
  element.dispatchEvent(new ClipboardEvent("paste", options));
}"""

# What a spreadsheet program puts into the clipboard for copied cells: text, HTML and a picture.
COPY_CELLS = """async (text) => {
  const canvas = Object.assign(document.createElement("canvas"), { width: 4, height: 4 });
  const picture = await new Promise((done) => canvas.toBlob(done, "image/png"));
  const kinds = { "text/plain": text, "text/html": `<table><tr><td>${text}` };
  const held = Object.entries(kinds).map(([type, one]) => [type, new Blob([one], { type })]);
  const cells = { ...Object.fromEntries(held), "image/png": picture };
  await navigator.clipboard.write([new ClipboardItem(cells)]);
}"""


def drop(desk: Desk, onto: Locator, *paths: Path) -> None:
    """Drop files from the disk onto an element, by the browser's own drag and drop."""
    box = onto.bounding_box()
    assert box is not None
    place = {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2}
    files = {"items": [], "files": [str(path) for path in paths], "dragOperationsMask": 1}
    browser = desk.context.new_cdp_session(desk.page)
    for kind in ("dragEnter", "dragOver", "drop"):
        browser.send("Input.dispatchDragEvent", {"type": kind, **place, "data": files})
        desk.page.evaluate("new Promise(requestAnimationFrame)")  # what takes the files is drawn
    browser.detach()


def paste(into: Locator, files: Mapping[str, bytes]) -> None:
    """Paste files, by name, into an element."""
    told = [[name, base64.b64encode(content).decode()] for name, content in files.items()]
    into.evaluate(PASTE, told)


def paste_cells(desk: Desk, into: Locator, text: str) -> None:
    """Copy cells of a spreadsheet, and paste them into an element."""
    desk.context.grant_permissions(["clipboard-read", "clipboard-write"])
    desk.page.evaluate(COPY_CELLS, text)
    into.press("ControlOrMeta+v")
