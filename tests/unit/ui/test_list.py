"""The session list's rules and its store, in Node: what it shows, asks, and takes back."""

import shutil
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.unit.ui.test_conversation_rules import FOLDER, in_node

pytestmark = pytest.mark.skipif(not shutil.which("node"), reason="Node is not installed")
NOW = datetime(2026, 11, 28, 12, tzinfo=UTC)
RULES = f"const rules = await import({str((FOLDER / 'list/rules.js').as_uri())!r});\n"
# A list of sessions in which the API's answers can be held, and are refused where a title says so.
STORE = f"""
  globalThis.document = {{ hidden: false }};
  globalThis.window = globalThis;
  const {{ Problem }} = await import({str((FOLDER / "api.js").as_uri())!r});
  const {{ Sessions }} = await import({str((FOLDER / "list/sessions.js").as_uri())!r});
  const {{ Unread }} = await import({str((FOLDER / "list/unread.js").as_uri())!r});
  const asked = [], kept = new Map();
  const storage = {{ getItem: (key) => kept.get(key) ?? null, setItem: (key, value) => kept.set(key, value) }};
  const session = (n, more = {{}}) => ({{
    id: String(n), title: `Session ${{n}}`, status: "idle", pinned: false, archived: false, rights: "own",
    updated_at: new Date(Date.UTC(2026, 0, 1) + n * 60000).toISOString(), parent_id: null, ...more }});
  let all = Array.from({{ length: given?.count ?? 3 }}, (_, n) => session(n)).reverse();
  let held = Promise.resolve();
  const find = (path) => all.find(({{ id }}) => id === path.split("/")[1]);
  const ask = async (path, {{ limit, cursor, pinned, archived, q }}, how) => {{
    asked.push([path, limit, cursor ?? null, how.isUnattended]);
    const found = all.filter((one) => one.archived === archived && (!q || one.title.includes(q))
      && (pinned === undefined || one.pinned === pinned) && (!cursor || one.updated_at < cursor));
    const items = found.slice(0, limit).map((one) => ({{ ...one }}));
    return {{ items, next_cursor: found.length > limit ? items.at(-1).updated_at : null }};
  }};
  const changing = (change) => async (path, act) => {{
    await held;
    const one = find(path);
    if (!one) throw new Problem("Session not found", "It is gone.", 404);
    if (act.title === "refused") throw new Problem("Not now", "Later.", 409);
    return change(one, act) ?? {{ ...one }};
  }};
  const set = (more) => changing((one, act) => void Object.assign(one, typeof more === "function" ? more(act) : more));
  const away = new Map();
  const calls = {{
    rename: set(({{ title }}) => ({{ title }})), pin: set({{ pinned: true }}), unpin: set({{ pinned: false }}),
    archive: set({{ archived: true }}), restore: set({{ archived: false }}),
    delete: changing((one) => {{ away.set(one.id, one); all = all.filter((other) => other !== one); return null; }}),
    undelete: async (path) => {{ const one = away.get(path.split("/")[1]); all = [one, ...all]; return {{ ...one }}; }},
  }};
  const list = new Sessions({{ ask, calls, unread: new Unread(storage) }});
  const shown = () => list.shown.value.map(({{ title }}) => title);
  const settled = () => new Promise((done) => setTimeout(done, 5));
  await list.look();
"""  # noqa: E501


def session(days: float, **more: Any) -> dict[str, Any]:
    when = (NOW - timedelta(days=days)).isoformat()
    return {"id": str(days), "title": "A", "pinned": False, "updated_at": when, **more}


def test_sessions_are_grouped_by_day_and_the_pinned_ones_come_first():
    days = [0, 0.2, 1, 3, 7, 8, 30, 40, 400]
    sessions = [*map(session, days), session(500, pinned=True)]
    script = (
        RULES
        + """
      const groups = rules.groupsOf(given.sessions, new Date(given.now));
      console.log(JSON.stringify(groups.map(([name, found]) => [name, found.length])));
    """
    )

    groups = in_node(script, {"sessions": sessions, "now": NOW.isoformat()})

    assert groups == [
        ["Pinned", 1], ["Today", 2], ["Yesterday", 1], ["Previous 7 days", 2],
        ["Previous 30 days", 2], ["October", 1], ["October 2025", 1],
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("state", "mark"),
    [
        ({"status": "idle"}, ""),
        ({"status": "idle", "id": "new"}, "unread"),
        ({"status": "idle", "id": "new", "has_failed": True}, "failed"),
        ({"status": "queued"}, "running"),
        ({"status": "running"}, "running"),
        ({"status": "waiting", "waits_for": "people"}, "waiting"),
        ({"status": "waiting", "waits_for": "tasks"}, "running"),
        ({"status": "waiting", "waits_for": None}, "running"),
    ],
)
def test_only_what_waits_for_a_person_is_marked_as_waiting(state, mark):
    script = (
        RULES
        + """
      const known = { unread: new Set(["new"]), hasWorker: true };
      console.log(JSON.stringify(rules.markOf(given, known)));
    """
    )

    assert in_node(script, {"id": "a", "has_failed": False, **state}) == mark


def test_titles_are_one_line_and_say_whose_they_are():
    script = (
        RULES
        + """
      console.log(JSON.stringify(given.map((one) => [rules.titleOf(one), rules.whose(one)])));
    """
    )
    mine = {"title": "![x](y) <b>bold</b>\n\u202ered", "rights": "own", "owner": "anna"}
    teams = {"title": "", "rights": "own", "team": "t", "team_name": "Finance", "owner": "anna"}
    theirs = {"title": "A", "rights": "read", "owner": "b", "owner_name": "Bodo"}
    reviewed = {**theirs, "review_ends_at": "2026-11-28T12:00:00Z"}

    said = in_node(script, [mine, teams, theirs, reviewed])

    assert said == [
        ["![x](y) <b>bold</b> red", ""], ["New chat", "Team Finance"],
        ["A", "Shared by Bodo"], ["A", ""],
    ]  # fmt: skip


def test_an_act_is_shown_at_once_and_a_refusal_takes_it_back_with_its_words():
    script = (
        STORE
        + """
      let go;
      held = new Promise((done) => (go = done));
      const renamed = list.act({ do: "rename", ids: ["1"], title: "Written" });
      const refused = list.act({ do: "rename", ids: ["2"], title: "refused" });
      const pinned = list.act({ do: "pin", ids: ["0"] });
      const before = shown();
      await list.look();
      const meanwhile = shown();
      go();
      const done = await Promise.all([renamed, refused, pinned]);
      await settled();
      console.log(JSON.stringify([before, meanwhile, shown(), done, list.problem.value.title]));
    """
    )

    before, meanwhile, after, done, problem = in_node(script, {"count": 3})

    assert before == meanwhile == ["Session 0", "refused", "Written"]
    assert after == ["Session 0", "Session 2", "Written"]
    assert (done, problem) == ([True, False, True], "Not now")


def test_several_are_put_away_though_one_of_them_has_gone():
    script = (
        STORE
        + """
      all = all.filter(({ id }) => id !== "1");
      await list.act({ do: "archive", ids: ["1", "2"] });
      await settled();
      const before = shown();
      await list.show({ archived: true });
      console.log(JSON.stringify([before, shown(), list.problem.value.title]));
    """
    )

    kept, archived, problem = in_node(script, {"count": 4})

    assert kept == ["Session 3", "Session 0"]
    assert archived == ["Session 2"]
    assert problem == "Session not found"


def test_what_is_deleted_leaves_at_once_and_comes_back_at_once():
    script = (
        STORE
        + """
      let go;
      held = new Promise((done) => (go = done));
      const deleted = list.act({ do: "delete", ids: ["2", "1"] });
      const seen = [shown()];
      const back = list.act({ do: "undelete", ids: ["2", "1"] });
      seen.push(shown());
      go();
      await deleted;
      seen.push(shown());
      await back;
      await settled();
      console.log(JSON.stringify([...seen, shown(), all.length]));
    """
    )

    at_once, back, during, after, count = in_node(script, {"count": 3})

    assert at_once == ["Session 0"]
    assert back == during == after == ["Session 2", "Session 1", "Session 0"]
    assert count == 3


def test_older_sessions_come_page_by_page_and_stay_when_others_come_and_go():
    script = (
        STORE
        + """
      const counts = [shown().length];
      for (let n = 0; n < 2; n += 1) {
        const reads = asked.length;
        await Promise.all([list.older(), list.older()]);
        counts.push(shown().length, asked.length - reads);
      }
      all = [session(500, { title: "New" }), ...all.filter(({ id }) => id !== "149")];
      await list.look();
      await list.act({ do: "delete", ids: ["3"] });
      await settled();
      console.log(JSON.stringify([counts, shown(), list.loaded.value.cursor]));
    """
    )

    counts, titles, cursor = in_node(script, {"count": 150})

    assert counts == [30, 130, 1, 150, 1]
    assert titles == ["New", *(f"Session {n}" for n in range(148, -1, -1) if n != 3)]
    assert cursor is None


def test_a_search_that_was_typed_on_shows_what_is_sought_last():
    script = (
        STORE
        + """
      const first = list.show({ q: "Session 1" });
      await list.show({ q: "Session 2" });
      await first;
      const found = shown();
      await list.show({ q: "" });
      console.log(JSON.stringify([found, shown().length]));
    """
    )

    assert in_node(script, {"count": 3}) == [["Session 2"], 3]


def test_an_answer_is_unread_until_its_session_is_opened_also_after_a_reload():
    script = (
        STORE
        + """
      const at = (n) => all.find(({ id }) => id === String(n));
      at(1).status = at(2).status = "running";
      list.openId.value = "2";
      await list.look();
      at(1).status = at(2).status = "idle";
      await list.look();
      const again = new Unread(storage);
      const unread = [[...list.unread.ids.value], [...again.ids.value]];
      again.see("1");
      const later = [again, new Unread(storage)].map(({ ids }) => [...ids.value]);
      console.log(JSON.stringify([...unread, ...later]));
    """
    )

    assert in_node(script, {"count": 3}) == [["1"], ["1"], [], []]


def test_a_look_is_two_reads_that_nobody_has_asked_for():
    script = (
        STORE
        + """
      asked.length = 0;
      await list.look();
      console.log(JSON.stringify(asked));
    """
    )

    assert in_node(script, {"count": 3}) == [
        ["sessions", 100, None, True],
        ["sessions", 30, None, True],
    ]
