// How the active turn of a conversation goes on: its events change what the store says.
import { Draft } from "./drafts.js";
import { batch, signal } from "./html.js";
import { LiveTurn, endWords } from "./turn.js";
import { isBehind } from "./windows.js";
/** @import { DisplayMessage, Told, Turn } from "./types.js" */

const SILENT_S = 2; // without events of a turn that works, what is stored is read
const CHECK_S = [10, 15]; // and now and then: between these, so that pages do not read together
const TICK_MS = 1000;

export class Live {
  /** @param {import("./store.js").Conversation} conversation */
  constructor(conversation) {
    this.conversation = conversation;
    this.drafts = signal(/** @type {Draft[]} */ ([]));
    this.turn = /** @type {LiveTurn | null} */ (null);
    this.told = 0; // events that have told of turns: what was asked before one of them is outdated
    this.stored = 0; // and those that have told of rows
    this.changed = signal(0); // what its words are made of has changed
    this.isAway = signal(false);
    this.tell = (/** @type {string} */ _words) => {}; // for a person who looks elsewhere
    this.unfollow = () => {};
    this.timer = 0;
    this.heardAt = this.checkedAt = 0;
    this.isOpened = false;
  }

  /** Follow the session's events. @param {import("./events.js").Wire | null} wire */
  begin(wire) {
    const { id } = this.conversation;
    if (!wire || id === null) return;
    this.end();
    this.unfollow = wire.follow(id, (told) => batch(() => told.forEach((one) => this.#take(one))));
    this.timer = window.setInterval(() => this.#check(), TICK_MS);
  }

  end() {
    this.unfollow();
    this.unfollow = () => {};
    clearInterval(this.timer);
  }

  /** What is stored: the unfinished turns. @param {Turn[]} turns */
  take(turns) {
    const { conversation } = this;
    const [active] = turns;
    const before = this.turn?.turn;
    if (active && before?.id === active.id) {
      if (before.status !== active.status || before.attempts !== active.attempts) this.#drop(({ row }) => row.turn_id === active.id);
      this.turn.take(active, conversation.now());
    } else {
      this.turn = active ? new LiveTurn(active, conversation.now()) : null;
    }
    conversation.turns.value = turns;
    if (active) conversation.followed.add(active.id);
    const open = new Set(turns.map(({ id }) => id));
    const stored = new Set(conversation.page.value?.items.map(({ id }) => id));
    this.#drop(({ row }) => stored.has(row.id) || !open.has(row.turn_id));
    this.changed.value += 1;
  }

  /** What the turn does, in words; null if none is active. */
  words() {
    void this.changed.value;
    const { turn, conversation } = this;
    if (!turn || conversation.problem.value?.isAway) return null; // that is said instead
    const rows = (conversation.page.value?.items ?? []).filter(({ turn_id }) => turn_id === turn.turn.id);
    const isWriting = this.drafts.value.some(({ row }) => row.content_type === "text");
    return turn.words(rows, isWriting, this.isAway.value, conversation.now());
  }

  /** @param {(draft: Draft) => boolean} isDropped */
  #drop(isDropped) {
    if (this.drafts.value.some(isDropped)) this.drafts.value = this.drafts.value.filter((one) => !isDropped(one));
  }

  /** @param {Told} told */
  #take(told) {
    const { conversation } = this;
    this.heardAt = conversation.now();
    if (told.state) this.#connection(told);
    else this.isAway.value = false;
    const act = told.event && this.#acts[told.event];
    if (act) act.call(this, told.data);
    for (const listener of conversation.heard) listener(told);
  }

  /** @param {Told} told */
  #connection({ state, after = null }) {
    const { isOpened } = this;
    this.isAway.value = state === "away";
    if (state === "away") return;
    this.isOpened = state === "back";
    if (after === null) this.#drop(() => true); // what has streamed comes again, from its beginning
    if (state === "gone") this.conversation.look(); // that says why
    // What ended before it was followed is told by no event.
    else if (isOpened || this.conversation.isBusy.value) this.conversation.catchUp();
  }

  #acts = {
    turn_queued: ({ turn }) => this.#queued(turn),
    turn_started: ({ turn }) => this.#started(turn),
    text_delta: (data) => this.#piece("text", data),
    thinking_delta: (data) => this.#piece("thinking", data),
    message_added: ({ message }) => this.#stored(message),
    message_updated: ({ message }) => this.#stored(message),
    progress: (data) => this.#progress(data),
    reset: (data) => this.#reset(data),
    interrupt: ({ turn }) => this.#asks(turn),
    turn_finished: ({ turn }) => this.#finished(turn),
    task_updated: ({ task }) => task.status === "asking" && this.tell("It waits for your decision."),
  };

  /** @param {Turn} turn */
  #queued(turn) {
    const { turns } = this.conversation;
    this.told += 1;
    if (turn.fork_of) {
      this.conversation.isForking = true;
      this.conversation.refresh();
    } else if (turns.value.every(({ id }) => id !== turn.id)) this.take([...turns.value, turn]);
  }

  /** @param {Turn} turn */
  #started(turn) {
    const { turns } = this.conversation;
    this.told += 1;
    this.#drop(() => true); // a new attempt begins its step anew
    this.take([turn, ...turns.value.filter(({ id }) => id !== turn.id)]);
  }

  #piece(kind, { message_id, text, context }) {
    const { conversation } = this;
    const items = conversation.page.value?.items ?? [];
    if (items.some(({ id }) => id === message_id)) return; // a stream that is read again repeats what is stored
    let draft = this.drafts.value.find(({ row }) => row.id === message_id);
    if (!draft) {
      const after = (items.at(-1)?.position ?? 0) + 1;
      draft = new Draft({ id: message_id, kind, turn: context.turn_id, agent: context.agent_id, after });
      this.drafts.value = [...this.drafts.value, draft];
      this.turn?.moved();
      this.changed.value += 1;
    }
    draft.add(text);
  }

  /** @param {DisplayMessage} row */
  #stored(row) {
    const { conversation } = this;
    this.stored += 1;
    const known = conversation.page.value?.items.find(({ id }) => id === row.id);
    if (isBehind(row, known)) return;
    conversation.put([row]);
    this.#drop((one) => one.row.id === row.id);
    if (this.turn && row.turn_id === this.turn.turn.id) {
      this.turn.moved();
      if (!known && row.message_type === "assistant") this.turn.notice = "";
    }
    this.changed.value += 1;
  }

  #progress(data) {
    this.turn?.progress(data, this.conversation.now());
    this.changed.value += 1;
  }

  #reset({ message_id, reason }) {
    this.#drop(({ row }) => message_id === null || row.id === message_id);
    this.turn?.reset(reason);
    this.changed.value += 1;
  }

  /** @param {Turn} turn */
  #asks(turn) {
    const { turns } = this.conversation;
    this.told += 1;
    this.take([turn, ...turns.value.filter(({ id }) => id !== turn.id)]);
    this.tell("It waits for your decision.");
  }

  /** @param {Turn} turn */
  #finished(turn) {
    const { turns } = this.conversation;
    this.told += 1;
    const wasOpen = turns.value.some(({ id }) => id === turn.id);
    this.take(turns.value.filter(({ id }) => id !== turn.id));
    if (!wasOpen) return;
    const words = endWords(turn);
    if (words) this.tell(words);
    this.conversation.refresh();
  }

  /** Redis may lose events: where a turn works in silence, and now and then, what is stored is read. */
  #check() {
    const { conversation } = this;
    if (!conversation.isBusy.value || document.hidden) return;
    this.changed.value += 1; // the time goes by
    const at = conversation.now();
    const isSilent = at - Math.max(this.heardAt, this.checkedAt) > SILENT_S;
    const [least, most] = CHECK_S;
    if (!isSilent && at - this.checkedAt < least + Math.random() * (most - least)) return;
    this.checkedAt = at;
    conversation.catchUp();
  }
}
