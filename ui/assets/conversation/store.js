// What the API said of one conversation, and what its events changed. Views are functions of this.
import { Problem, addressOf, now, read } from "./api.js";
import { toBlocks } from "./blocks.js";
import { batch, computed, signal } from "./html.js";
import { Live } from "./live.js";
import { keepLooking } from "./looking.js";
import { LATEST, around, cutToTurns, isBehind, isLatest, latest, rowsOf } from "./windows.js";
/** @import { DisplayMessage, MessagePage, Sent, Session, Told, Turn, Window } from "./types.js" */

const PAGE = 200; // rows that the API gives at once
const MOST_TRIES = 3;
const CLOSED = [403, 404, 410]; // deleted, a link that has ended, a review that needs a reason

/** One conversation, read at `path` of the API: `sessions/ID`, or of a link `shared/TOKEN`. Without one it
 * is a new chat, whose first message begins it. */
export class Conversation {
  /** @param {string | null} path @param {import("./formats.js").Reader} reader @param {typeof read} [ask] */
  constructor(path, reader, ask = read) {
    this.reader = reader;
    this.ask = ask;
    this.person = ""; // who reads
    this.readsOnly = false; // as the address asks
    this.isLeft = false; // a new chat, for another one, while its first message was on its way
    this.place = signal(path);
    this.session = signal(/** @type {Session | null} */ (null));
    this.page = signal(/** @type {MessagePage | null} */ (null));
    this.window = signal(LATEST);
    this.turns = signal(/** @type {Turn[]} */ ([])); // unfinished, in order
    this.sent = signal(/** @type {Sent[]} */ ([]));
    this.marked = signal(/** @type {{position: number, row: string | null} | null} */ (null));
    this.closed = signal(/** @type {Problem | null} */ (null));
    this.problem = signal(/** @type {Problem | null} */ (null));
    this.followed = /** @type {Set<string>} */ (new Set()); // turns that were seen at work: they do not fold
    this.heard = /** @type {Set<(told: Told) => void>} */ (new Set()); // views that follow events themselves
    this.live = new Live(this);
    this.wanted = 0; // of several answers, the latest question's counts
    this.late = /** @type {DisplayMessage[]} */ ([]); // rows that events told since that question
    this.isForking = false; // another version has begun: what is shown is not its branch yet
    this.isBusy = computed(() => this.turns.value.length > 0);
    this.may = computed(() => this.#rights());
    this.queue = computed(() => this.#waiting());
    this.items = computed(() => this.#items());
  }

  get path() {
    return this.place.value;
  }

  /** The session's id; null for a new chat and for a link. */
  get id() {
    return this.path?.startsWith("sessions/") ? this.path.slice("sessions/".length) : null;
  }

  /** A new chat whose first message is on its way. */
  get isBeginning() {
    return this.path === null && this.sent.value.length > 0;
  }

  get isAtEnd() {
    return isLatest(this.window.value);
  }

  /** Read the session and the end of its history, or the messages around a position.
   * @param {number | null} [position] */
  async open(position = null) {
    if (this.path === null) return;
    await this.reading(async () => {
      const asked = this.#askTurns();
      asked.catch(() => {}); // why it cannot be read, the session's own answer says
      const [session, turns] = [await this.ask(this.path), await asked];
      if (position) await this.#showAround(position, session, turns);
      else await this.#show(this.window.value, session, turns);
    });
  }

  /** It could not be read, and may be read now. */
  async again() {
    this.closed.value = null;
    await this.open();
  }

  /** The new chat has become this session. @param {string} id @param {import("./events.js").Wire | null} wire */
  async begin(id, wire) {
    this.place.value = `sessions/${id}`;
    this.live.begin(wire);
    await this.open();
  }

  /** Show another part of the history. @param {Window} window */
  async move(window) {
    this.marked.value = null;
    await this.reading(() => this.#show(window, this.session.value, this.#sameTurns));
  }

  /** Show the messages around a position, and mark that one. @param {number} position */
  async jump(position) {
    await this.reading(() => this.#showAround(position, this.session.value, this.#sameTurns));
  }

  /** Something was changed here: read what is stored now. */
  async refresh() {
    await this.reading(async () => {
      const turns = await this.#askTurns();
      const session = await this.ask(this.path);
      const isOther = session.branch !== this.session.value?.branch;
      await this.#show(isOther ? LATEST : this.window.value, session, turns);
    });
  }

  /** Look whether something has changed elsewhere; a hidden page does not. */
  async look() {
    if (this.path === null || this.closed.value || document.hidden) return;
    await this.reading(async () => {
      const found = await this.ask(this.path, {}, { isUnattended: true });
      const before = this.session.value;
      if (!before) return this.#show(this.window.value, found, await this.#askTurns());
      const parts = ["branch", "message_count", "status", "updated_at"];
      const isSame = parts.every((name) => before[name] === found[name]);
      const isSaid = this.isBusy.value && before.branch === found.branch; // its events bring the rest
      if (isSame || isSaid) this.session.value = found;
      else await this.#show(before.branch === found.branch ? this.window.value : LATEST, found, await this.#askTurns());
    });
  }

  /** Follow the conversation until the returned function is called: by its events, and by looking.
   * @param {import("./events.js").Wire | null} [wire] none for a link */
  follow(wire = null) {
    const unfollow = keepLooking(() => this.look());
    this.live.begin(wire);
    return () => {
      unfollow();
      this.live.end();
    };
  }

  /** Put rows in their places: newer states of those that are shown, and those after them.
   * @param {DisplayMessage[]} rows */
  put(rows) {
    this.late.push(...rows);
    const page = this.page.value;
    if (!page || !rows.length || this.isForking) return;
    const first = page.items[0]?.position ?? 0;
    const found = new Map(page.items.map((row) => [row.id, row]));
    for (const row of kept(rows, page.items)) {
      if (isBehind(row, found.get(row.id))) continue;
      if (found.has(row.id) || (this.isAtEnd && row.position >= first)) found.set(row.id, row);
    }
    const items = [...found.values()].sort((one, other) => one.position - other.position);
    this.page.value = { ...page, items };
  }

  /** Read the unfinished turns, and the rows since the one that goes on, for when events are missing. */
  async catchUp() {
    await this.reading(async () => {
      const turns = await this.#askTurns();
      const items = this.page.value?.items ?? [];
      const last = items.at(-1)?.turn_id;
      const begun = items.find(({ turn_id }) => turn_id !== null && turn_id === last);
      let after = (begun ?? items.at(-1))?.position ?? 1;
      const rows = [];
      for (let more = this.isAtEnd; more; ) {
        const page = await this.ask(`${this.path}/messages`, { limit: PAGE, after: after - 1, branch: "active" }, { isUnattended: true });
        rows.push(...page.items);
        more = page.next_after !== null;
        after = page.next_after + 1;
      }
      batch(() => {
        this.put(rows);
        turns();
      });
    });
  }

  /** A person says this: it is shown at once. @param {string} text @param {string} key */
  say(text, key) {
    this.isLeft = false;
    const after = this.page.value?.items.at(-1)?.position ?? 0;
    this.sent.value = [...this.sent.value.filter((one) => one.key !== key), { key, text, after, turn: null }];
  }

  /** It was accepted as a turn, or was not. @param {string} key @param {string | null} turn null: it is not shown any more */
  said(key, turn) {
    if (turn) this.followed.add(turn);
    const found = this.sent.value.find((one) => one.key === key);
    const others = this.sent.value.filter((one) => one.key !== key);
    this.sent.value = found && turn ? [...others, { ...found, turn }] : others;
  }

  /** The address of a stored result. @param {string} id @param {object} params */
  result(id, params = {}) {
    return addressOf(`${this.path}/results/${id}`, params);
  }

  /** The path of a message's table. @param {string} message @param {number} number */
  table(message, number = 1) {
    return `${this.path}/messages/${message}/tables/${number}`;
  }

  /** The path of a call's query, laid out. @param {string} message */
  query(message) {
    return `${this.path}/messages/${message}/query`;
  }

  /** @param {() => Promise<any>} act */
  async reading(act) {
    try {
      await act();
      this.problem.value = null;
    } catch (problem) {
      if (!(problem instanceof Problem)) throw problem;
      if (CLOSED.includes(problem.status)) this.closed.value ??= problem; // the first says why
      else this.problem.value = problem;
    }
  }

  /** Read the unfinished turns.
   * @returns {Promise<() => void>} takes them; where events have told of turns since, they are asked for again */
  async #askTurns() {
    const { told } = this.live;
    const turns = this.id === null ? [] : (await this.ask(`${this.path}/turns`)).items;
    return () => {
      if (told === this.live.told) return this.live.take(turns);
      this.#sameTurns();
      this.catchUp();
    };
  }

  #sameTurns = () => this.live.take(this.turns.value);

  /** @param {Window} window @param {Session | null} session @param {() => void} turns */
  async #show(window, session, turns) {
    const number = this.#begin();
    const count = session?.message_count ?? 0;
    let [shown, page] = [window, await this.#rows(window, count)];
    if (window.after !== undefined && page.next_after === null) {
      shown = latest(page.items.length, count); // it reaches the end, and follows it from now on
      page = await this.#rows(shown, count);
    }
    if (number === this.wanted) this.#tell(session, turns, shown, cutToTurns(page, shown));
  }

  #begin() {
    this.late = [];
    return ++this.wanted;
  }

  /** @param {number} position @param {Session | null} session @param {() => void} turns */
  async #showAround(position, session, turns) {
    const number = this.#begin();
    const found = await this.ask(`${this.path}/messages`, { limit: LATEST.limit, around: position, ...this.#branch() });
    if (number !== this.wanted) return;
    const page = cutToTurns(found, LATEST, position);
    const shown = around(page, session?.message_count ?? 0);
    batch(() => {
      this.#tell(session, turns, shown, page);
      this.marked.value = { position, row: rowAt(page.items, position) };
    });
  }

  #tell(session, turns, window, page) {
    batch(() => {
      this.session.value = session;
      this.window.value = window;
      this.page.value = { ...page, items: kept(page.items, this.page.value?.items ?? []) };
      this.isForking = false;
      this.put(this.late.splice(0)); // it may have been read before they were there
      turns();
    });
  }

  /** @param {Window} window @param {number} count @returns {Promise<MessagePage>} */
  async #rows(window, count) {
    // One more than is shown after a position, because whether it begins a turn decides the cut.
    const limit = rowsOf(window, count) + (window.after === undefined ? 0 : 1);
    const { before, after } = window;
    let stored, page, tries = MOST_TRIES;
    do {
      stored = this.live.stored;
      page = await this.ask(`${this.path}/messages`, { limit, before, after, ...this.#branch() });
    } while (stored !== this.live.stored && --tries); // events have told of rows that it lacks
    return page;
  }

  #branch() {
    return this.id === null ? {} : { branch: "active" };
  }

  #rights() {
    const rights = this.session.value?.rights;
    const isRead = this.id !== null && (rights === "read" || this.readsOnly);
    const ask = (this.path === null || rights !== undefined) && !isRead && !this.session.value?.parent_id;
    return { read: true, ask, manage: rights === "own" && !this.readsOnly };
  }

  /** The turns whose messages are not in the history yet: a worker puts each there. One that goes on with an
   * earlier one's work has no message of its own. */
  #waiting() {
    const [active, ...behind] = this.turns.value;
    if (active?.status !== "queued") return behind;
    const said = (this.page.value?.items ?? []).filter(({ message_type }) => message_type === "user");
    const isSeen = said.some(({ turn_id }) => turn_id === active.id) || said.at(-1)?.content.text === active.message;
    return isSeen || !this.isAtEnd ? behind : [active, ...behind];
  }

  /** What is drawn: the rows of the window, and at its end what is on its way to become one.
   * @returns {DisplayMessage[]} */
  #items() {
    const rows = this.page.value?.items ?? [];
    if (!this.isAtEnd) return rows;
    const said = rows.filter(({ message_type }) => message_type === "user");
    const waits = this.queue.value;
    const isSeen = ({ turn, text, after }) => turn
      ? said.some(({ turn_id }) => turn_id === turn) || waits.some(({ id }) => id === turn)
      : said.some((row) => row.position > after && row.content.text === text);
    const own = this.sent.value.filter((one) => !isSeen(one)).map(sentRow);
    const drafts = this.isForking ? [] : this.live.drafts.value.map(({ row }) => row);
    // Said while a turn runs, it comes after that turn's answer.
    return this.isBusy.value && !own.some(({ turn_id }) => turn_id === this.turns.value[0].id)
      ? [...rows, ...drafts, ...own] : [...rows, ...own, ...drafts];
  }

  /** Seconds since 1970, by the server's clock. */
  now() {
    return now();
  }
}

/** The rows, those that are known already as the same objects: what has not changed is not drawn again.
 * @param {DisplayMessage[]} rows @param {DisplayMessage[]} known */
const kept = (rows, known) => {
  const before = new Map(known.map((row) => [row.id, row]));
  return rows.map((row) => {
    const old = before.get(row.id);
    return old && JSON.stringify(old) === JSON.stringify(row) ? old : row;
  });
};

/** @param {Sent} sent @returns {DisplayMessage} */
const sentRow = ({ key, text, turn, after }) => ({
  id: `sent-${key}`,
  position: after + 0.5,
  message_type: "user",
  content_type: "text",
  content: { text },
  status: "pending",
  agent: null,
  turn_id: turn,
  created_at: "",
  metadata: {},
});

/** The row that is drawn for a position: its own, its call's, or the one before it.
 * @param {DisplayMessage[]} rows @param {number} position */
const rowAt = (rows, position) => {
  if (rows.every((row) => row.position !== position)) return null;
  const blocks = toBlocks(rows);
  const has = ({ row, result, asked }) => [row, result, asked].some((one) => one?.position === position);
  const found = blocks.find(has) ?? blocks.findLast(({ row }) => row.position < position);
  return found?.row.id ?? null;
};
