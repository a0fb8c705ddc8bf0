"""Scripts and styles: loaded once by a browser, and again only after they have changed."""

import ast
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from ui.shared import assets

UI = Path(__file__).parent.parent.parent.parent / "ui"


def component_options() -> list[tuple[str, set[str]]]:
    """Return the options of each component, with the file that makes it."""
    return [
        (path.name, {option.arg or "" for option in call.keywords})
        for path in UI.rglob("*.py")
        for call in ast.walk(ast.parse(path.read_text()))
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "st.components.v2.component"
    ]


def test_components_send_no_styles_and_no_script_but_its_address():
    made = component_options()

    assert len(made) > 3
    assert {name: options for name, options in made if "css" in options} == {}
    assert len(assets.loader("conversation/index.js")) < 200


def test_a_version_names_the_content_and_the_names_of_all_files(tmp_path):
    def version(name: str, content: str) -> str:
        folder = tmp_path / f"{name}-{content}"
        (folder / "styles").mkdir(parents=True)
        (folder / "styles" / name).write_text(content)
        return assets.version_of(folder)

    assert len({version("a.css", "one"), version("a.css", "two"), version("b.css", "one")}) == 3


@pytest.mark.parametrize(
    ("version", "kept"), [(assets.VERSION, assets.KEPT), ("of-another-day", "no-cache")]
)
def test_a_browser_keeps_the_files_of_this_version_only(version, kept):
    client = TestClient(Starlette(routes=[assets.route()]))

    answer = client.get(f"{assets.ROOT}/{version}/conversation/index.js")

    assert answer.status_code == 200
    assert answer.headers["cache-control"] == kept
    assert "javascript" in answer.headers["content-type"]
    assert client.get(f"{assets.ROOT}/{version}/../assets.py").status_code == 404


def test_a_file_that_does_not_exist_is_not_kept():
    client = TestClient(Starlette(routes=[assets.route()]))

    answer = client.get(f"{assets.PATH}/none.js")

    assert answer.status_code == 404
    assert "cache-control" not in answer.headers
