"""Makes the PDF of a document, in a child of the sandbox that can no longer open anything."""

import os
import resource
from pathlib import Path

from backend.artifacts.documents.charts import Figures
from backend.artifacts.documents.typst_page import Subject, write_typst
from backend.markdown.cells import Href


def write_pdf(subject: Subject, text: str, figures: Figures, href: Href, target: Path) -> None:
    """Write a Markdown document as a PDF; Typst reads no file and opens no connection."""
    source = write_typst(subject, text, figures, href)
    root = target.with_name("nothing")
    root.mkdir()
    with target.open("wb") as file:
        file.write(compile_typst(source.encode(), root, int(subject.created_at.timestamp())))


def compile_typst(source: bytes, root: Path, timestamp: int) -> bytes:
    """Return the PDF that Typst makes of this source; afterwards this process can open nothing."""
    os.environ["RAYON_NUM_THREADS"] = "1"  # each thread reserves memory, which counts as used
    import typst  # it starts threads: never before a fork

    compiler = typst.Compiler(
        source,
        root=root,
        ignore_system_fonts=True,  # so that a document looks the same on every machine
        package_path=root,
        package_cache_path=root,
    )
    _open_nothing_more()
    pdf = compiler.compile(format="pdf", timestamp=timestamp)
    if not isinstance(pdf, bytes):
        raise TypeError("a PDF is one file")
    return pdf


def _open_nothing_more() -> None:
    """Make opening any file or connection fail: no descriptor is left."""
    descriptor = os.open(os.devnull, os.O_RDONLY)
    os.close(descriptor)
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (descriptor, hard))
