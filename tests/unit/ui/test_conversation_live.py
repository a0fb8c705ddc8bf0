"""The component's store as the events of a turn come in, in Node."""

import shutil

import pytest

from tests.unit.ui.test_conversation_rules import in_node, modules

pytestmark = pytest.mark.skipif(not shutil.which("node"), reason="Node is not installed")
CHAT = """
  globalThis.document = { hidden: false };
  globalThis.window = globalThis;
  let rows = [], turns = [];
  let session = { id: "s", rights: "own", message_count: 0, branch: null, status: "idle" };
  const asked = [];
  const ask = async (path, params = {}) => {
    asked.push(path);
    if (path.endsWith("/turns")) return { items: turns };
    if (!path.endsWith("/messages")) return { ...session };
    const { after = 0 } = params;
    const items = rows.filter(({ position }) => position > after);
    return { items, next_before: null, next_after: null };
  };
  const one = new store.Conversation("sessions/s", {}, ask);
  let hear;
  const wire = { follow: (_, tell) => { hear = tell; return () => {}; } };
  const told = (event, data) => ({ session: "s", id: event, event, data });
  const turn = (more = {}) => ({ id: "t", status: "queued", agent: "a", message: "Hello",
    losses: 0, attempts: 1, queue_position: 0, created_at: new Date().toISOString(),
    started_at: null, error: null, ...more });
  const row = (id, position, message_type) => ({ id, position, message_type, turn_id: "t",
    content_type: "text", content: { text: id }, status: "completed", sequence: 0, agent: null,
    metadata: {} });
  const started = told("turn_started", { turn: turn({ status: "running" }) });
  const added = (...given) => told("message_added", { message: row(...given) });
  const piece = (text, message_id = "m", event = "text_delta") =>
    told(event, { message_id, text, context: { turn_id: "t", agent_id: "a" } });
  const shown = () => one.items.value.map(
    ({ content, draft }) => draft ? `${draft.text}…` : content.text);
  const settle = () => new Promise((done) => setTimeout(done, 20));
  await one.open();
  one.live.begin(wire);
  hear([{ session: "s", state: "back", after: null }]);
"""


def run(script: str):
    return in_node(modules("api", "store") + CHAT + script + "one.live.end();", {})


def test_a_turn_is_told_from_the_words_of_the_person_to_its_end():
    seen = run("""
      const seen = [];
      const see = () => seen.push([shown(), one.live.words()?.activity ?? null, one.isBusy.value]);
      one.say("Hello", "k");
      see();
      hear([told("turn_queued", { turn: turn() })]);
      one.said("k", "t");
      see();
      hear([started, added("Hello", 1, "user")]);
      see();
      hear([piece("The "), piece("answer")]);
      see();
      rows = [row("Hello", 1, "user"), row("m", 2, "assistant")];
      hear([told("message_added", { message: rows[1] })]);
      see();
      hear([told("turn_finished", { turn: turn({ status: "succeeded" }) })]);
      await settle();
      see();
      console.log(JSON.stringify(seen));
    """)

    assert seen == [
        [["Hello"], None, False],
        [[], "Waiting for a worker…", True],  # it is in the queue, until a worker has it
        [["Hello"], "Thinking…", True],
        [["Hello", "The answer…"], "Writing…", True],
        [["Hello", "m"], "Thinking…", True],
        [["Hello", "m"], None, False],
    ]


def test_what_was_void_is_taken_back_and_said():
    seen = run("""
      hear([started, piece("Wrong")]);
      const before = shown();
      const reason = "the provider closed the connection";
      hear([told("reset", { message_id: "m", reason }), piece("Right", "n")]);
      console.log(JSON.stringify([before, shown(), one.live.words().notice]));
    """)

    notice = (
        "The answer broke off and is being requested again. the provider closed the connection."
    )
    assert seen == [["Wrong…"], ["Right…"], notice]


def test_a_stream_that_comes_again_doubles_nothing():
    seen = run("""
      hear([started, piece("The ans")]);
      hear([{ session: "s", state: "away" }]);
      const away = one.live.words().activity;
      hear([{ session: "s", state: "back", after: null }, piece("The ans"), piece("wer")]);
      const again = shown();
      hear([added("m", 2, "assistant"), piece("The answer")]);
      console.log(JSON.stringify([away, again, shown()]));
    """)

    away = "The service does not answer. Nothing is lost; reconnecting…"
    assert seen == [away, ["The answer…"], ["m"]]


def test_a_message_that_is_told_while_the_history_is_read_stays():
    seen = run("""
      hear([started]);
      const isAsked = new Promise((done) => one.ask = async (path, ...given) => {
        const before = await ask(path, ...given);
        if (path.endsWith("/messages")) { one.ask = ask; done(); await settle(); }
        return before;
      });
      turns = [turn({ status: "running" })];
      const read = one.refresh();
      await isAsked;
      rows = [row("Hello", 1, "user")];
      hear([added("Hello", 1, "user")]);
      await read;
      console.log(JSON.stringify(shown()));
    """)

    assert seen == ["Hello"]


def test_where_events_are_missing_the_stored_state_is_read():
    seen = run("""
      hear([started, piece("lost on the way")]);
      rows = [row("Hello", 1, "user"), row("m", 2, "assistant")];
      turns = [];
      await one.catchUp();
      console.log(JSON.stringify([shown(), one.isBusy.value]));
    """)

    assert seen == [["Hello", "m"], False]


def test_a_message_behind_a_running_turn_waits_in_the_queue():
    seen = run("""
      hear([started, added("Hello", 1, "user")]);
      one.say("And then?", "k");
      hear([piece("The answer")]);
      const sent = shown();
      const next = turn({ id: "u", message: "And then?", queue_position: 1 });
      hear([told("turn_queued", { turn: next })]);
      one.said("k", "u");
      console.log(JSON.stringify([sent, shown(), one.queue.value.map(({ message }) => message)]));
    """)

    assert seen == [["Hello", "The answer…", "And then?"], ["Hello", "The answer…"], ["And then?"]]


def test_another_branch_is_read_from_its_end():
    seen = run("""
      rows = [row("Another version", 9, "user"), row("Its answer", 10, "assistant")];
      session = { ...session, branch: 2 };
      await one.look();
      console.log(JSON.stringify([shown(), one.isAtEnd]));
    """)

    assert seen == [["Another version", "Its answer"], True]


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ({"status": "queued", "queue_position": 2}, "Waiting: 2 turns before it…"),
        ({"status": "running", "stop_requested": True}, "Stopping…"),
        ({"status": "waiting", "waits_for": "tasks"}, "Waiting for its tasks…"),
        ({"status": "running", "route": {"reason": "pending"}}, "Finding the agent…"),
        (
            {"status": "running", "model_wait": {"seconds": 30, "reason": "It is busy."}},
            "Waiting for the model's provider: It is busy…",
        ),
    ],
)
def test_what_a_turn_does_is_said(state: dict[str, object], words: str):
    script = """
      turns = [turn(given)];
      await one.catchUp();
      console.log(JSON.stringify(one.live.words().activity));
    """
    said = in_node(modules("api", "store") + CHAT + script + "one.live.end();", state)

    assert said == words


def test_an_answer_that_was_asked_for_before_a_turn_began_does_not_end_it():
    seen = run("""
      let answer;
      one.ask = (path, ...rest) => path.endsWith("/turns")
        ? new Promise((done) => { answer = () => done({ items: [] }); }) : ask(path, ...rest);
      const read = one.refresh();
      hear([started, piece("The answer")]);
      one.ask = ask;
      turns = [turn({ status: "running" })];
      answer();
      await read;
      await settle();
      console.log(JSON.stringify([shown(), one.isBusy.value]));
    """)

    assert seen == [["The answer…"], True]


def test_a_row_that_an_event_told_while_older_ones_were_read_stays():
    seen = run("""
      asked.length = 0;
      const read = one.refresh();
      while (!asked.at(-1)?.endsWith("/messages")) await null;
      hear([started, added("Hello", 1, "user")]);
      await read;
      console.log(JSON.stringify(shown()));
    """)

    assert seen == ["Hello"]


def test_a_turn_that_ended_before_it_was_followed_is_read_at_once():
    seen = run("""
      turns = [turn({ status: "running" })];
      await one.refresh();
      one.live.end();
      one.live.begin(wire);
      one.live.isOpened = false;
      const before = one.isBusy.value;
      rows = [row("Hello", 1, "user"), row("m", 2, "assistant")];
      turns = [];
      hear([{ session: "s", state: "back", after: null }]);
      await settle();
      console.log(JSON.stringify([before, shown(), one.isBusy.value]));
    """)

    assert seen == [True, ["Hello", "m"], False]


def test_a_session_that_may_not_be_read_says_so_in_its_own_words():
    seen = run("""
      const refuse = (path) => {
        const [title, status] = path === "sessions/s" ? ["Say why", 403] : ["Not found", 404];
        throw new api.Problem(title, "", status);
      };
      one.ask = async (path) => refuse(path);
      hear([{ session: "s", state: "gone" }]);
      await settle();
      await one.catchUp();
      console.log(JSON.stringify([one.closed.value.title, one.closed.value.status]));
    """)

    assert seen == ["Say why", 403]


def test_another_version_is_not_shown_beside_the_one_that_it_replaces():
    seen = run("""
      rows = [row("Hello", 1, "user"), row("m", 2, "assistant")];
      hear([started, added("Hello", 1, "user"), added("m", 2, "assistant")]);
      hear([told("turn_finished", { turn: turn({ status: "succeeded" }) })]);
      await settle();
      const fork = { id: "f", turn_id: "f" };
      const again = turn({ id: "f", fork_of: "t", status: "running" });
      const asks = { ...row("Hello", 3, "user"), ...fork };
      let read;
      one.ask = async (path, ...given) => {
        await new Promise((done) => { read = done; });
        return ask(path, ...given);
      };
      session = { ...session, branch: 2 };
      rows = [asks];
      turns = [again];
      hear([told("turn_queued", { turn: again }), told("message_added", { message: asks })]);
      hear([told("turn_started", { turn: again })]);
      const context = { turn_id: "f", agent_id: "a" };
      hear([told("text_delta", { message_id: "n", text: "New", context })]);
      const before = shown();
      one.ask = ask;
      read();
      await settle();
      console.log(JSON.stringify([before, shown()]));
    """)

    assert seen == [["Hello", "m"], ["Hello", "New…"]]
