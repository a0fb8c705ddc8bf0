"""Artifacts in the panel beside the chat: the list, versions, linked cells, differences."""

from uuid import uuid4

import pytest

from backend.markdown.cells import ARTIFACT
from backend.schemas.artifacts import ArtifactDiff, ArtifactKind, CellChange, RowChange
from backend.tabular.locales import NOTHING
from tests.ui.seen import downloads, html, words
from ui.features.artifacts.state import LISTED

COLUMNS = [{"name": "account", "type": "VARCHAR"}, {"name": "amount_eur", "type": "DECIMAL(18,2)"}]
ROWS = [[f"A{n}", 100.5 * n] for n in range(1, 31)]


@pytest.fixture
def scene(store):
    """A session with a table of two versions."""
    session = store.add_session()
    table = store.artifacts.add(session, ArtifactKind.TABLE, "Differences", shown(ROWS))
    store.artifacts.revise(table, shown(ROWS[:29]))
    return session, table


def shown(rows):
    return {"columns": COLUMNS, "rows": rows, "total_rows": len(rows)}


@pytest.fixture
def opened(open_panel, scene):
    """Open an artifact as a link to it does, or the list."""

    def open_it(artifact, version=None, session=None, **place):
        asked = {"session": str((session or scene[0]).id), "version": version, **place}
        if artifact is None:
            return open_panel(kind=LISTED, **asked)
        return open_panel(kind=ARTIFACT, artifact=str(artifact), **asked)

    return open_it


def test_a_link_opens_its_version_with_the_row_in_view(opened, scene):
    page = opened(scene[1].id, 1, row="3", column="amount_eur")

    assert not page.exception
    assert "Row 3 · amount\\_eur" in words(page)
    near = page.dataframe[-2].value
    assert list(near["Row"]) == ["1", "2", "▶ 3", "4", "5", "6", "7"][: len(near)]
    assert page.dataframe[-2].proto.placeholder == NOTHING
    assert "A newer version exists: 2." in words(page)
    assert "30 rows" in words(page)


def test_a_row_and_a_column_that_the_version_lacks_are_said(opened, scene):
    far = opened(scene[1].id, 2, row="30", column="amount_eur")
    other = opened(scene[1].id, 2, row="3", column="nothing")

    assert "This version has no row 30: it has 29 rows." in words(far)
    assert "This version has no column nothing." in words(other)


def test_an_artifact_that_is_unknown_is_said_and_the_list_offered(opened, scene):
    page = opened(uuid4(), 1)

    assert not page.exception
    assert "This artifact does not exist" in words(page)
    assert [button.label for button in page.button if button.label == "Differences"]


def test_a_version_that_does_not_exist_is_said(opened, scene):
    page = opened(scene[1].id, 9)

    assert "This artifact has no version 9. Its newest version is shown." in words(page)


def test_the_list_opens_an_artifact_and_closes(opened, scene):
    page = opened(None)
    assert "Table · 2 versions · Reconciler" in words(page)

    page.button(key=f"artifact-open-{scene[1].id}").click().run()
    assert "Version 2 of 2" in words(page)

    page.button(key="panel-close").click().run()
    assert "Version 2 of 2" not in words(page)


def test_the_session_of_a_task_shows_the_artifacts_of_its_plan_as_its_own(opened, scene, store):
    task = store.add_session("Compare", parent_id=scene[0].id)
    page = opened(None, session=task)

    page.button(key=f"artifact-open-{scene[1].id}").click().run()

    assert "Version 2 of 2" in words(page)
    assert "It belongs to another session." not in words(page)


def test_two_versions_are_compared_by_rows_and_cells(opened, scene, store):
    table = scene[1]
    store.artifacts.diffs[table.id] = ArtifactDiff(
        artifact_id=table.id, before=1, after=2, kind="rows", added=0, removed=1, changed=1,
        rows=[
            RowChange(change="removed", row={"account": "A30", "amount_eur": 3015.0}),
            RowChange(
                change="changed",
                row={"account": "A1", "amount_eur": 7.0},
                cells=[CellChange(column="amount_eur", before=100.5, after=7.0)],
            ),
        ],
    )  # fmt: skip
    page = opened(table.id, 2)

    page.selectbox(key=f"artifact-before-{table.id}-2").set_value(1).run()

    assert not page.exception
    assert "- 1 row removed · ~ 1 row changed" in words(page).replace("\\", "")
    changes = page.dataframe[-1].value
    assert list(changes["Change"]) == ["- removed", "~ changed"]
    assert changes["amount_eur"][1] == "100.50 → 7.00"


def test_each_kind_is_shown(opened, scene, store):
    session = scene[0]
    encoding = {"x": {"field": "account"}, "y": {"field": "amount_eur"}}
    bars = {"spec": {"mark": "bar", "encoding": encoding}, "table": {**shown(ROWS[:5])}}
    chart = store.artifacts.add(session, ArtifactKind.CHART, "Bars", bars)
    report = {"text": f"# Report\n\n[7](artifact:{scene[1].id}@2#row=1)", "total_characters": 10}
    document = store.artifacts.add(session, ArtifactKind.DOCUMENT, "Report", report)
    json = store.artifacts.add(session, ArtifactKind.JSON, "Payload", {"value": {"a": 1}})
    file = store.artifacts.add(session, ArtifactKind.FILE, "notes.bin", {})

    pages = {one.title: opened(one.id) for one in (chart, document, json, file)}

    assert not any(page.exception for page in pages.values())
    assert pages["Bars"].get("vega_lite_chart")
    href = f"?session={session.id}&artifact={scene[1].id}@2&row=1"
    assert any(f'<a href="{href}"' in part for part in html(pages["Report"]))
    assert pages["Payload"].code[-1].value == '{\n  "a": 1\n}'
    assert "download it to view it" in words(pages["notes.bin"])


def test_a_chart_stands_where_a_document_names_it(opened, scene, store):
    session, table = scene
    encoding = {"x": {"field": "account"}, "y": {"field": "amount_eur"}}
    bars = {"spec": {"mark": "bar", "encoding": encoding}, "table": {**shown(ROWS[:5])}}
    chart = store.artifacts.add(session, ArtifactKind.CHART, "Bars", bars)
    other = store.artifacts.add(store.add_session(), ArtifactKind.CHART, "Other", bars)
    lines = [f"![{one.title}](artifact:{one.id}@1)" for one in (chart, chart, other, table)]
    text = "before\n" + "\n".join(lines) + "\nafter\n\n" + f"in a line {lines[0]}"
    report = {"text": text, "total_characters": len(text)}
    document = store.artifacts.add(session, ArtifactKind.DOCUMENT, "Report", report)

    page = opened(document.id)

    assert not page.exception
    assert len(page.get("vega_lite_chart")) == 2
    assert words(page).count("This chart cannot be found in this session.") == 2
    assert "**Other**" in words(page) and "**Differences**" in words(page)
    assert any('in a line <a href="?session=' in part for part in html(page))


def test_a_list_that_cannot_be_had_is_said(opened, scene, store):
    store.artifacts.refusal = True

    page = opened(None)

    assert not page.exception
    assert "There is none" in words(page)
    assert page.button(key="panel-close")


def test_a_kept_file_says_what_it_is_and_is_offered_under_its_name(opened, store):
    session = store.add_session()
    file = store.artifacts.add(
        session, ArtifactKind.FILE, "drawing.png", {"name": "drawing.png"},
        media_type="image/svg+xml", bytes=1_500,
        origin={"tool": "keep_file", "of_tool": "plot", "fingerprint": "ab12"},
    )  # fmt: skip
    page = opened(file.id, 1, session=session)

    assert not page.exception
    assert r"**drawing\.png**" in words(page)
    assert r"image/svg\+xml · 2 KB: download it" in words(page)
    assert "Returned by: plot" in words(page)
    assert not page.get("imgs")
    path = f"artifacts/{file.id}/versions/1/download?format=file"
    assert downloads(page) == {"Download": path}
