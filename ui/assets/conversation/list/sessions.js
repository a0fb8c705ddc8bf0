// The sessions of the sidebar: pinned ones, the latest, and the older ones loaded so far, with what a
// person has just chosen for them.
import { Problem, change, read } from "../api.js";
import { unsent } from "../composer/composer.js";
import { batch, computed, signal } from "../html.js";
import { keepLooking } from "../looking.js";
import { merged, withActs } from "./rules.js";
import { Unread } from "./unread.js";
/** @import { Act, Session } from "./types.js" */

const LATEST = 30; // read at each look
const OLDER = 100;
const MOST_PINNED = 100;
const GONE = 404;
export const MOST_SELECTED = 100;
export const UNDO_SECONDS = 8;
const DELETE_SECONDS = UNDO_SECONDS + 2; // an Undo at the last moment still comes in time

/** @type {Record<string, (path: string, act: Act) => Promise<any>>} */
const CALLS = {
  rename: (path, { title }) => change("PATCH", path, { title }),
  pin: (path) => change("PATCH", path, { pinned: true }),
  unpin: (path) => change("PATCH", path, { pinned: false }),
  archive: (path) => change("PATCH", path, { archived: true }),
  restore: (path) => change("PATCH", path, { archived: false }),
  delete: (path) => change("DELETE", `${path}?after_seconds=${DELETE_SECONDS}`),
  undelete: (path) => change("POST", `${path}/undelete`),
  clear: (path) => change("POST", `${path}/clear`),
};

/** The session list of one tab. */
export class Sessions {
  /** @param {{ask?: typeof read, calls?: typeof CALLS, unread?: Unread}} [parts] */
  constructor({ ask = read, calls = CALLS, unread = new Unread() } = {}) {
    this.ask = ask;
    this.calls = calls;
    this.unread = unread;
    this.archived = signal(false);
    this.q = signal("");
    this.openId = signal(/** @type {string | null} */ (null));
    this.loaded = signal({ items: /** @type {Session[]} */ ([]), cursor: /** @type {string | null} */ (null) });
    this.pinned = signal(/** @type {Session[]} */ ([]));
    this.acts = signal(/** @type {Act[]} */ ([])); // under way
    this.isRead = signal(false); // this very list was read once
    this.isLoadingOlder = signal(false);
    this.problem = signal(/** @type {Problem | null} */ (null)); // of an act, until it is closed
    this.away = signal(/** @type {Problem | null} */ (null)); // the list cannot be read now
    this.shown = computed(() => {
      const items = [...this.pinned.value, ...this.loaded.value.items].filter(({ id }) => !unsent.value.includes(id));
      return withActs(items, this.acts.value);
    });
    this.left = new Map(); // sessions that were deleted here, as they come back
    /** @type {Map<string, Promise<void>>} */
    this.tails = new Map(); // of each session's acts, which are done one after the other
    this.settled = 0; // acts that have ended: what was asked before one of them may lack it
    this.wanted = 0; // of several lists, the one that is wanted last counts
  }

  /** @param {{q?: string, archived?: boolean}} list another one than before */
  async show({ q = this.q.value, archived = this.archived.value }) {
    if (q === this.q.value && archived === this.archived.value) return;
    this.wanted += 1;
    batch(() => {
      this.q.value = q;
      this.archived.value = archived;
      this.isRead.value = false;
      this.isLoadingOlder.value = false;
    });
    await this.look({ isUnattended: false });
  }

  /** Read what may have changed. @param {{isUnattended?: boolean}} [how] */
  async look({ isUnattended = true } = {}) {
    const { wanted, settled } = this;
    try {
      const [pinned, page] = await Promise.all([
        this.#page({ limit: MOST_PINNED, pinned: true }, isUnattended),
        this.#page({ limit: LATEST, pinned: false }, isUnattended),
      ]);
      if (wanted !== this.wanted) return;
      this.away.value = null;
      if (settled !== this.settled) return; // an act has ended meanwhile, and looks itself
      batch(() => {
        const before = this.isRead.value ? this.loaded.value : { items: [], cursor: null };
        this.pinned.value = pinned.items;
        this.loaded.value = merged(before, page);
        this.isRead.value = true;
        this.unread.note([...pinned.items, ...page.items], this.openId.value);
      });
    } catch (problem) {
      if (!(problem instanceof Problem)) throw problem;
      if (wanted !== this.wanted) return;
      batch(() => {
        this.away.value = problem;
        if (this.isRead.value) return;
        this.pinned.value = [];
        this.loaded.value = { items: [], cursor: null };
      });
    }
  }

  /** Look again and again until the returned function is called. */
  follow() {
    this.look({ isUnattended: false });
    return keepLooking(() => this.look());
  }

  /** Read the next older page. */
  async older() {
    const { wanted } = this;
    const { cursor } = this.loaded.value;
    if (!cursor || !this.isRead.value || this.isLoadingOlder.value) return;
    this.isLoadingOlder.value = true;
    let isMoved = false; // the latest page has moved meanwhile: the list goes on from another place
    try {
      const page = await this.#page({ limit: OLDER, pinned: false, cursor }, false);
      if (wanted !== this.wanted) return;
      const { items } = this.loaded.value;
      const known = new Set(items.map(({ id }) => id));
      const more = page.items.filter(({ id }) => !known.has(id));
      if (this.loaded.value.cursor === cursor) this.loaded.value = { items: [...items, ...more], cursor: page.next_cursor };
      else isMoved = true;
    } catch (problem) {
      if (!(problem instanceof Problem)) throw problem;
      if (wanted === this.wanted) this.problem.value = problem;
    } finally {
      if (wanted === this.wanted) this.isLoadingOlder.value = false;
    }
    if (isMoved) await this.older();
  }

  /**
   * Do something to sessions: the list shows it at once, and takes it back with the API's words where
   * it is refused. @param {Act} act @returns {Promise<boolean>} whether all of it was done
   */
  async act(act) {
    batch(() => {
      for (const id of act.ids) {
        if (act.do === "delete") this.left.set(id, this.get(id));
        if (act.do === "undelete" && this.left.get(id)) this.put(this.left.get(id));
      }
      this.acts.value = [...this.acts.value, act];
      this.problem.value = null;
    });
    const problems = (await Promise.all(act.ids.map((id) => this.#after(id, () => this.#one(act, id))))).filter(Boolean);
    this.settled += 1;
    batch(() => {
      this.acts.value = this.acts.value.filter((one) => one !== act);
      if (problems.length) this.problem.value = problems[0];
    });
    this.look();
    return !problems.length;
  }

  /** A session as it is now, where the list has it or it belongs there. @param {Session} session */
  put(session) {
    const { items, cursor } = this.loaded.value;
    const isShown = [...this.pinned.value, ...items].some(({ id }) => id === session.id);
    batch(() => {
      this.#drop(session.id);
      const belongs = session.archived === this.archived.value && !session.parent_id;
      if (!belongs || !(isShown || (session.rights === "own" && !this.q.value))) return;
      const rest = this.loaded.value;
      if (session.pinned) this.pinned.value = [session, ...this.pinned.value];
      else if (cursor === null || session.updated_at >= (rest.items.at(-1)?.updated_at ?? "")) {
        const items = [...rest.items, session].sort((one, other) => (one.updated_at < other.updated_at ? 1 : -1));
        this.loaded.value = { items, cursor };
      }
      this.unread.note([session], this.openId.value);
    });
  }

  /** A loaded session, as the list shows it. @param {string} id */
  get(id) {
    return this.shown.value.find((session) => session.id === id);
  }

  #drop(id) {
    const stays = (session) => session.id !== id;
    this.pinned.value = this.pinned.value.filter(stays);
    this.loaded.value = { ...this.loaded.value, items: this.loaded.value.items.filter(stays) };
  }

  /** @param {Act} act @param {string} id @returns {Promise<Problem | null>} */
  async #one(act, id) {
    try {
      const session = await this.calls[act.do](`sessions/${id}`, act);
      this.settled += 1;
      const comesBack = this.acts.value.some((one) => one.do === "undelete" && one.ids.includes(id));
      if (act.do === "delete" && !comesBack) this.#drop(id);
      else if (act.do !== "delete" && session?.updated_at) this.put(session);
    } catch (problem) {
      if (!(problem instanceof Problem)) throw problem;
      if (act.do === "delete" && problem.status === GONE) return void this.#drop(id); // already deleted elsewhere
      if (problem.status === GONE) this.#drop(id);
      return problem;
    }
    return null;
  }

  /** @template T @param {string} id @param {() => Promise<T>} what @returns {Promise<T>} */
  #after(id, what) {
    const done = (this.tails.get(id) ?? Promise.resolve()).then(what);
    const tail = done.then(() => undefined, () => undefined);
    this.tails.set(id, tail);
    tail.then(() => this.tails.get(id) === tail && this.tails.delete(id));
    return done;
  }

  /** @returns {Promise<{items: Session[], next_cursor: string | null}>} */
  #page(params, isUnattended) {
    const given = { ...params, archived: this.archived.value, q: this.q.value || null };
    return this.ask("sessions", given, { isUnattended });
  }
}
