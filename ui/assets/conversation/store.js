// What the API said of one conversation, and how more is asked of it. Views are functions of this.
import { Problem, addressOf, read } from "./api.js";
import { batch, signal } from "./html.js";
import { LATEST, cutToTurns, isLatest, latest, rowsOf } from "./windows.js";
/** @import { MessagePage, SharedSession, Window } from "./types.js" */

const LOOK_MS = 4000;
const CLOSED = [404, 410]; // a link that never existed, or has ended

/** One conversation, read at `path` of the API: of a link, `shared/TOKEN`. */
export class Conversation {
  /** @param {string} path @param {import("./formats.js").Reader} reader @param {(path: string, params?: object, how?: object) => Promise<any>} [ask] */
  constructor(path, reader, ask = read) {
    this.path = path;
    this.reader = reader;
    this.ask = ask;
    this.person = ""; // who reads
    this.session = signal(/** @type {SharedSession | null} */ (null));
    this.page = signal(/** @type {MessagePage | null} */ (null));
    this.window = signal(LATEST);
    this.closed = signal(/** @type {Problem | null} */ (null));
    this.problem = signal(/** @type {Problem | null} */ (null));
    this.wanted = 0; // of several answers, the latest question's counts
  }

  /** Read the session and the end of its history. */
  async open() {
    await this.#reading(async () => {
      const session = await this.ask(this.path);
      await this.#show(this.window.value, session);
    });
  }

  /** Show another part of the history. @param {Window} window */
  async move(window) {
    await this.#reading(() => this.#show(window, this.session.value));
  }

  /** Look whether something was said since; a hidden page does not. */
  async look() {
    if (this.closed.value || document.hidden) return;
    await this.#reading(async () => {
      const { session, window } = this;
      const now = await this.ask(this.path, {}, { isUnattended: true });
      const before = session.value;
      const isSame = before && before.updated_at === now.updated_at
        && before.message_count === now.message_count && before.title === now.title;
      if (!isSame) await this.#show(window.value, now);
    });
  }

  /** Look every few seconds until the returned function is called. */
  follow() {
    let timer = 0;
    const next = () => {
      timer = window.setTimeout(() => this.look().finally(() => timer && next()), LOOK_MS);
    };
    const seen = () => document.hidden || this.look();
    document.addEventListener("visibilitychange", seen);
    next();
    return () => {
      clearTimeout(timer);
      timer = 0;
      document.removeEventListener("visibilitychange", seen);
    };
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

  /** @param {Window} window @param {SharedSession | null} session */
  async #show(window, session) {
    const number = ++this.wanted;
    const count = session?.message_count ?? 0;
    let [shown, page] = [window, await this.#rows(window, count)];
    if (window.after !== undefined && page.next_after === null) {
      shown = latest(page.items.length, count); // it reaches the end, and follows it from now on
      page = await this.#rows(shown, count);
    }
    if (number !== this.wanted) return;
    batch(() => {
      this.session.value = session;
      this.window.value = shown;
      this.page.value = cutToTurns(page, shown);
    });
  }

  /** @param {Window} window @param {number} count @returns {Promise<MessagePage>} */
  #rows(window, count) {
    // One more than is shown after a position, because whether it begins a turn decides the cut.
    const limit = rowsOf(window, count) + (window.after === undefined ? 0 : 1);
    const { before, after } = window;
    return this.ask(`${this.path}/messages`, { limit, before, after });
  }

  /** @param {() => Promise<void>} act */
  async #reading(act) {
    try {
      await act();
      this.problem.value = null;
    } catch (problem) {
      if (!(problem instanceof Problem)) throw problem;
      if (CLOSED.includes(problem.status)) this.closed.value = problem;
      else this.problem.value = problem;
    }
  }

  get isAtEnd() {
    return isLatest(this.window.value);
  }
}
