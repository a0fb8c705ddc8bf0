"""The composer's rules and its state, in Node: what is sent, under which key, what comes back."""

import shutil
from typing import Any

import pytest

from backend.schemas.data.files import attached_line
from tests.unit.ui.test_conversation_rules import in_node

pytestmark = pytest.mark.skipif(not shutil.which("node"), reason="Node is not installed")

# An API that notes what it is asked, and answers when it is told to.
DESK = """
  globalThis.sessionStorage = { held: {}, getItem(n) { return this.held[n] ?? null; },
    setItem(n, v) { this.held[n] = v; }, removeItem(n) { delete this.held[n]; } };
  const { Composer, composerOf } = await import("./composer/composer.js");
  const { Problem } = await import("./api.js");
  const { signal, computed } = await import("./html.js");
  const { Reader } = await import("./formats.js");
  const asked = [], waiting = [];
  const ask = (method, path, body, how = {}) => new Promise((done, fail) => {
    asked.push([method, path, body?.message ?? body?.domain ?? null, how.key ?? null]);
    waiting.push({ done, fail });
  });
  const calm = async () => { for (let n = 0; n < 20; n += 1) await null; };
  const answer = async (value) => { waiting.shift().done(value); await calm(); };
  const accept = (turn, session = "s") => answer({ session_id: session, turn_id: turn });
  const lose = async (status = 0) => {
    const title = status ? "Refused" : "The service does not answer";
    waiting.shift().fail(new Problem(title, "", status));
    await calm();
  };
  const conversation = {
    id: null, isAtEnd: true, reader: new Reader("en"), turns: signal([]), sent: signal([]),
    page: signal({ items: [] }), problem: signal(null), refresh: async () => {},
    say(text, key) { this.sent.value = [...this.sent.value, { key, text, turn: null }]; },
    said(key, turn) {
      const its = (one) => (turn ? [{ ...one, turn }] : []);
      this.sent.value = this.sent.value.flatMap((one) => (one.key === key ? its(one) : [one]));
    },
  };
  const begun = [];
  const app = { begun: async (session) => { begun.push(session); conversation.id = session; } };
  const sends = [];
  const upload = (path, form, tell, signal) => new Promise((done, fail) => {
    signal.addEventListener("abort", () => fail(new Problem("", "", 0)));
    sends.push({ session: form.get("session_id"), how: form.get("if_exists"), done, fail });
  });
  const look = async () => ({ finished_at: null });
  const made = (session) => new Composer(session, { ask, look, upload });
  const say = async (composer, text) => { composer.write(text); composer.submit(); await calm(); };
  const keysOf = () => asked.map(([, , , key]) => key);
"""


def told(script: str, given: Any = None) -> Any:
    return in_node(f"{DESK}\n{script}", given)


def test_messages_are_sent_in_order_and_the_first_makes_the_session_of_the_others():
    said = told("""
      const composer = composerOf(null);
      Object.assign(composer, { ask, look });
      composer.enter(app, conversation);
      await say(composer, "one");
      await say(composer, "two");
      const shown = conversation.sent.value.map(({ text }) => text);
      const before = asked.length;
      await accept("t1");
      const same = composerOf("s") === composer && composerOf(null) !== composer;
      await accept("t2");
      const paths = asked.map(([, path]) => path);
      console.log(JSON.stringify({ shown, before, same, begun, paths }));
    """)

    assert said == {
        "shown": ["one", "two"], "before": 1, "same": True, "begun": ["s"],
        "paths": ["chat", "sessions/s/chat"],
    }  # fmt: skip


def test_a_refused_text_is_back_above_newer_words_and_sent_again_it_is_the_same_message():
    said = told("""
      const composer = made("s");
      composer.enter(app, conversation);
      await say(composer, "Second");
      await say(composer, "Third");
      composer.write("Not sent yet");
      await lose();
      await lose();
      const back = composer.text.value, { title, detail } = composer.problem.value;
      const left = conversation.sent.value.length;
      await say(composer, "Second");
      const [first, , third] = keysOf();
      console.log(JSON.stringify({ back, title, detail, left, isSame: first === third }));
    """)

    assert said == {
        "back": "Second\n\nThird\n\nNot sent yet",
        "title": "The service does not answer",
        "detail": "Your message was not sent. It is back in the composer.",
        "left": 0,
        "isSame": False,  # it was taken out and written again
    }


def test_a_fault_of_the_page_after_one_message_does_not_hold_up_the_next():
    said = told("""
      const composer = made("s");
      const page = { ...conversation, refresh: async () => { throw new Error("a fault"); } };
      composer.enter(app, page);
      await say(composer, "Second");
      await say(composer, "Third");
      await accept("t1");
      console.log(JSON.stringify(asked.map(([, , text]) => text)));
    """)

    assert said == ["Second", "Third"]


@pytest.mark.parametrize(("change", "is_same"), [("", True), ("composer.write('');", False)])
def test_the_key_of_a_lost_message_stays_until_its_text_is_taken_out(change: str, is_same: bool):
    said = told(f"""
      const composer = made("s");
      await say(composer, "Continue.");
      await lose();
      {change}
      await say(composer, "Continue.");
      await accept("t");
      await say(composer, "Continue.");
      const [first, second, third] = keysOf();
      console.log(JSON.stringify([first === second, second === third]));
    """)

    assert said == [is_same, False]  # one that was accepted is another message in any case


def test_escape_before_the_turn_is_there_stops_it_unless_one_writes_on():
    said = told("""
      const composer = made("s");
      for (const goesOn of [false, true]) {
        await say(composer, "Tell me");
        await composer.stop([]);
        if (goesOn) composer.write("And");
        await accept(`t-${goesOn}`);
        if (!goesOn) await answer({});
      }
      console.log(JSON.stringify(asked.map(([, path]) => path)));
    """)

    assert said == ["sessions/s/chat", "turns/t-false/stop", "sessions/s/chat"]


def test_a_queued_message_that_is_taken_back_is_above_newer_words():
    said = told("""
      const composer = made("s");
      composer.write("Something newer");
      composer.takeBack("t");
      await answer({ started_at: null, message: "never mind" });
      composer.takeBack("u");
      await answer({ started_at: "2026-01-01T00:00:00Z", message: "begun" });
      console.log(JSON.stringify(composer.text.value));
    """)

    assert said == "never mind\n\nSomething newer"


def test_a_message_waits_for_its_files_and_no_longer_once_its_words_change():
    said = told("""
      const composer = made("s");
      const file = (name) => new File(["a"], name);
      composer.files.add([file("a.csv"), file("b.csv")], 1);
      await say(composer, "Totals");
      const waits = [composer.waits.value, sends.length];
      composer.write("Totals by month");
      waits.push(composer.waits.value);
      composer.submit();
      sends[0].done({ id: "1", name: "a.csv", source: "a" });
      await calm();
      waits.push(composer.waits.value, asked.length);
      sends[1].done({ id: "2", name: "b.csv", source: "b" });
      await calm();
      const [[, , message]] = asked;
      await lose(422);
      const back = [composer.text.value, composer.files.there.map(({ name }) => name)];
      console.log(JSON.stringify({ waits, message, back }));
    """)

    lines = "\n".join(attached_line(f"{name}.csv", name) for name in "ab")
    assert said == {
        "waits": [True, 1, False, True, 0],
        "message": f"Totals by month\n\n{lines}",
        "back": ["Totals by month", ["a.csv", "b.csv"]],
    }


def test_a_message_is_not_sent_without_a_file_that_was_refused_or_waits_for_a_decision():
    said = told("""
      const composer = made("s"), seen = [];
      const { files } = composer;
      const now = () => seen.push([composer.problem.value?.title ?? null, asked.length]);
      files.add([new File(["a"], "a.csv"), new File(["x".repeat(2_000_000)], "b.csv")], 1);
      await calm();
      sends[0].fail(new Problem("Taken", "You already have it.", 409));
      await calm();
      await say(composer, "Totals");
      now();
      files.decide(1, "replace");
      await calm();
      seen.push([sends[1].how, sends[1].session]);
      sends[1].done({ id: "1", name: "a.csv", source: "a" });
      await calm();
      composer.submit();
      now();
      files.remove(2);
      now();
      composer.submit();
      await calm();
      now();
      console.log(JSON.stringify(seen));
    """)

    assert said == [
        ["a.csv was not uploaded", 0], ["replace", "s"], ["b.csv was not uploaded", 0], [None, 0],
        [None, 1],
    ]  # fmt: skip


def test_files_of_a_new_chat_move_to_the_domain_that_is_chosen_after_them():
    said = told("""
      const composer = made(null);
      composer.files.add([new File(["a"], "a.csv")], 1);
      await calm();
      await answer({ id: "first" });
      sends[0].done({ id: "1", name: "a.csv", source: "a" });
      await calm();
      composer.choose({ domain: "finance" });
      await calm();
      waiting.pop().done({ id: "second" });  // after the first is deleted
      await calm();
      sends[1].done({ id: "2", name: "a.csv", source: "a" });
      await calm();
      await say(composer, "Totals");
      console.log(JSON.stringify([asked.map((one) => one.slice(0, 3)), sends[1].session]));
    """)

    calls, session = said
    assert session == "second"
    assert sorted(calls[:3], key=str) == [
        ["DELETE", "sessions/first", None], ["POST", "sessions", "finance"],
        ["POST", "sessions", None],
    ]  # fmt: skip
    assert calls[3][:2] == ["POST", "sessions/second/chat"]


def test_what_is_sent_is_forgotten_once_the_history_has_it_or_its_turn_has_ended():
    said = told("""
      const composer = made("s"), seen = [];
      composer.enter(app, conversation);
      await say(composer, "one");
      await accept("t1");
      await say(composer, "two");
      await accept("t2");
      const now = () => seen.push(conversation.sent.value.map(({ text }) => text));
      conversation.turns.value = [{ id: "t1" }, { id: "t2" }];
      now();
      conversation.page.value = { items: [{ turn_id: "t1" }] };
      now();
      conversation.turns.value = [{ id: "t1" }];  // it was taken back elsewhere
      now();
      conversation.page.value = { items: [] };
      now();
      console.log(JSON.stringify(seen));
    """)

    assert said == [["one", "two"], ["two"], [], []]


MENTIONS = [
    ("Hello a@b", None),
    ("`@", None),
    ("```\n@", None),
    ("> ```\n> @", None),
    ("> ```\n@", "@"),
    ("请@rec", "@rec"),
    ("Compare, @Rec", "@Rec"),
    ("@@x", None),
]


@pytest.mark.parametrize(("text", "word"), MENTIONS)
def test_a_name_begins_with_an_at_sign_that_is_neither_code_nor_an_address(
    text: str, word: str | None
):
    script = """
      const { begunAt } = await import("./composer/mentions.js");
      const begun = begunAt(given, given.length);
      console.log(JSON.stringify(begun && given.slice(begun.from)));
    """

    assert in_node(script, text) == word


def test_a_name_is_completed_in_its_place():
    script = """
      const { begunAt, completion, meant } = await import("./composer/mentions.js");
      const complete = (text, cursor, name) => {
        const { written, from, end } = completion(text, cursor, begunAt(text, cursor).from, name);
        return text.slice(0, from) + written + text.slice(end);
      };
      const agents = ["Sage", "Reconciler", "Report-writer", "Core"].map((name) => ({ name }));
      const names = (typed) => meant(agents, typed).map(({ name }) => name);
      console.log(JSON.stringify([
        complete("请@rec看", 5, "Reconciler"), complete("@re and", 3, "Sage"),
        names("re"), names("sage"), names("SA"), names("x"),
      ]));
    """

    assert in_node(script, None) == [
        "请@Reconciler 看", "@Sage and", ["Reconciler", "Report-writer", "Core"], [], ["Sage"], [],
    ]  # fmt: skip


def test_the_model_is_sent_only_where_the_default_was_changed():
    script = """
      const { models, modelToSend, shownModel } = await import("./composer/words.js");
      const offered = models("usual", ["swift", "usual"]);
      const cases = [[null, null], [null, "swift"], ["swift", null], ["swift", "usual"]];
      cases.push(["gone", null]);
      const of = (...one) => [shownModel(offered, ...one), modelToSend(offered, ...one)];
      const sent = cases.map((one) => of(...one));
      console.log(JSON.stringify([offered, models("usual", []), ...sent]));
    """

    assert in_node(script, None) == [
        ["usual", "swift"], [],
        ["usual", None], ["swift", "swift"], ["swift", "swift"], ["usual", "usual"],
        ["usual", "usual"],
    ]  # fmt: skip


def test_a_message_may_have_two_million_characters():
    script = """
      const { tooLong } = await import("./composer/words.js");
      const { Reader } = await import("./formats.js");
      const reader = new Reader("en");
      const texts = ["🙂".repeat(2_000_000), "x".repeat(2_000_001)];
      console.log(JSON.stringify(texts.map((text) => tooLong(text, reader))));
    """

    enough, more = in_node(script, None)
    assert enough == ""
    assert more.startswith("2,000,001 of at most 2,000,000 characters.")
