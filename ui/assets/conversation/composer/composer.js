// What a person writes in one chat, and sends. Each session has a composer of its own for as long as the
// tab is there; that of a new chat becomes the session's.
import { Problem, addressOf, change, newKey, read } from "../api.js";
import { batch, effect, signal } from "../html.js";
import { LATEST } from "../windows.js";
import { NEW_CHAT, storeDraft, takeDraft } from "./drafts.js";
import { Files } from "./files.js";
import { modelToSend, tooLong, withFiles } from "./words.js";

const TOLD_MS = 400; // within which events tell of a turn that was accepted
const OURS = -1; // the status of what the API was not asked
const LOST = ["The service does not answer", "Your message was not sent. It is back in the composer."];

/**
 * @typedef {object} Message One on its way.
 * @property {string} key its name on the page
 * @property {string} text with the names of its files
 * @property {string} written without them
 * @property {import("./files.js").Item[]} items its files
 * @property {string | null} model
 * @property {boolean} isToStop
 *
 * @typedef {object} Choices of a new chat
 * @property {string | null} domain
 * @property {string | null} team
 */

export class Composer {
  /** @param {string | null} session null: of a new chat @param {{ask?: any, look?: any, upload?: any}} [api] */
  constructor(session, { ask = change, look = read, upload = undefined } = {}) {
    this.ask = ask;
    this.look = look;
    this.session = session;
    this.text = signal(takeDraft(session ?? NEW_CHAT));
    this.sent = /** @type {Message[]} */ ([]); // not accepted yet
    this.listed = /** @type {Set<string>} */ (new Set()); // accepted turns that were among the unfinished ones
    this.problem = signal(/** @type {Problem | null} */ (null));
    this.waits = signal(false); // sends what is written once its files are there
    this.choices = signal(/** @type {Choices} */ ({ domain: null, team: null }));
    this.model = signal(/** @type {string | null} */ (null)); // chosen here
    this.offered = /** @type {{models: string[], before: string | null}} */ ({ models: [], before: null });
    const fields = async (/** @type {string} */ ifExists) => ({ session_id: await this.#forFiles(), if_exists: ifExists });
    this.files = new Files("files", fields, () => this.#filesChanged(), upload);
    this.made = /** @type {Promise<string> | null} */ (null); // a session for the files of a new chat
    this.madeId = /** @type {string | null} */ (null);
    this.keys = new Map(); // of texts not accepted: sent again, a text is the same message
    this.returned = ""; // what is back in the composer: refused, or taken back
    this.last = Promise.resolve();
    this.area = /** @type {HTMLTextAreaElement | null} */ (null);
    this.isToFocus = false;
    this.leftAt = -Infinity; // when its text area, which had the focus, was last taken away
    /** The page that draws it, or null: another chat is open. */
    this.page = /** @type {{conversation: any, app: any} | null} */ (null);
  }

  /** The person has written. @param {string} text */
  write(text) {
    this.text.value = text;
    this.waits.value = false;
    this.#untell();
    for (const one of this.sent) one.isToStop = false;
    if (!this.returned || text.includes(this.returned)) return;
    this.returned = ""; // taken out: what is written again is another message
    this.keys.clear();
  }

  /** Send what is written, once its files are there. */
  submit() {
    const { files, text: { value: text } } = this;
    const { bad } = files;
    const long = tooLong(text, this.page?.conversation.reader);
    if (long) this.#tell("This message is too long", long);
    else if (bad?.state === "alike") this.#tell(`${bad.file.name} was not uploaded`, "Choose what becomes of it, then send your message.");
    else if (bad) this.#tell(`${bad.file.name} was not uploaded`, "Remove it or add it again, then send your message.");
    else if (files.isSending) this.waits.value = true;
    else {
      const whole = withFiles(text, files.there);
      if (!whole.trim()) return;
      batch(() => {
        this.say(whole, text, files.items.value);
        files.items.value = [];
        this.text.value = this.returned = "";
      });
    }
  }

  /** Send a text. @param {string} text @param {string} [written] @param {import("./files.js").Item[]} [items] */
  say(text, written = text, items = []) {
    const { models, before } = this.offered;
    const model = modelToSend(models, before, this.model.value);
    const message = { key: newKey(), text, written, items, model, isToStop: false };
    const { conversation } = this.page ?? {};
    batch(() => {
      unsent.value = [];
      this.waits.value = false;
      this.problem.value = null;
      conversation?.say(text, message.key);
    });
    this.sent.push(message);
    const next = () => this.#send(message);
    this.last = this.last.then(next, next);
    if (conversation?.id && !conversation.isAtEnd) conversation.move(LATEST);
  }

  /** @param {Message} message */
  async #send(message) {
    const { text, model } = message;
    const words = `${model ?? ""} ${text}`;
    const key = this.keys.get(words) ?? newKey();
    this.keys.set(words, key);
    try {
      const session = this.session ?? (await this.made);
      const path = session ? `sessions/${session}/chat` : "chat";
      const body = { message: text, model: model ?? undefined, ...(session ? {} : this.#chosen) };
      const { session_id, turn_id } = await this.ask("POST", path, body, { key, prefer: "respond-async" });
      this.keys.delete(words);
      this.#ends(message, turn_id);
      if (message.isToStop) this.ask("POST", `turns/${turn_id}/stop`).catch(() => null); // Stop is there
      if (!this.session) await this.#becomes(session_id);
      this.#settle(turn_id).catch(() => null); // the page reads again by itself
    } catch (problem) {
      if (!(problem instanceof Problem)) throw problem;
      batch(() => this.#refused(message, problem));
    }
  }

  /** @param {Message} message @param {Problem} problem */
  #refused(message, problem) {
    this.problem.value = problem.title === LOST[0] ? new Problem(LOST[0], LOST[1], 0) : problem;
    this.#ends(message, null);
    this.giveBack(message.written);
    this.files.items.value = [...message.items, ...this.files.items.value];
    if (this.made && this.madeId) unsent.value = [this.madeId];
  }

  /** @param {Message} message @param {string | null} turn null: it was refused */
  #ends(message, turn) {
    this.sent = this.sent.filter((one) => one !== message);
    this.page?.conversation.said(message.key, turn);
  }

  get #chosen() {
    const { domain, team } = this.choices.value;
    return { domain: domain ?? undefined, team: team ?? undefined };
  }

  /** Events tell of the turn. Without them the page reads again, and then it knows the turn, unless that was
   * taken back elsewhere. @param {string} turn */
  async #settle(turn) {
    await new Promise((resolve) => setTimeout(resolve, TOLD_MS));
    const { conversation } = this.page ?? {};
    const isKnown = () => {
      this.forgetSeen();
      return !conversation || conversation.turns.value.some(({ id }) => id === turn)
        || conversation.sent.value.every((one) => one.turn !== turn);
    };
    if (isKnown()) return;
    await conversation.refresh();
    if (isKnown()) return;
    const { finished_at } = await this.look(`turns/${turn}`);
    if (finished_at !== null) this.#forget((one) => one.turn === turn);
  }

  /** Have the page forget messages that are in the history, and those whose turns have ended without. */
  forgetSeen() {
    const { conversation } = this.page ?? {};
    const said = new Set(conversation?.page.value?.items.map(({ turn_id }) => turn_id));
    const open = new Set(conversation?.turns.value.map(({ id }) => id));
    this.#forget(({ turn }) => turn !== null && (said.has(turn) || (this.listed.has(turn) && !open.has(turn))));
    for (const id of open) this.listed.add(id);
  }

  #forget(isSeen) {
    const sent = this.page?.conversation.sent;
    if (sent?.value.some(isSeen)) sent.value = sent.value.filter((one) => !isSeen(one));
  }

  /** The page of this chat was opened. @param {any} app @param {any} conversation @returns {() => void} what to do when it is left */
  enter(app, conversation) {
    this.page = { app, conversation };
    for (const { text, key } of this.sent) conversation.say(text, key);
    const end = effect(() => this.forgetSeen());
    return () => {
      end();
      if (this.page?.conversation === conversation) this.page = null;
    };
  }

  /** A new chat has become this session: its page stays, under another address. */
  async #becomes(session) {
    this.session = session;
    this.made = null;
    const other = composers.get(session); // it was opened in the list before this was answered
    composers.delete(NEW_CHAT);
    composers.set(session, other ?? this);
    if (other && this.text.value.trim()) other.giveBack(this.text.value);
    await this.page?.app.begun(session);
  }

  /** Put a text back: after those returned before it, above newer words. @param {string} text */
  giveBack(text) {
    const { value } = this.text;
    const isThere = this.returned && value.startsWith(this.returned);
    const returned = isThere ? `${this.returned}\n\n${text}` : text;
    const newer = (isThere ? value.slice(this.returned.length) : value).trim();
    this.returned = returned;
    this.text.value = newer ? `${returned}\n\n${newer}` : returned;
  }

  /** Stop the turn that runs, or that of the message on its way as soon as it is there.
   * @param {any[]} turns those unfinished */
  async stop(turns) {
    const [first] = this.sent; // of several messages, the one that runs first
    const turn = turns[0]?.id ?? this.page?.conversation.sent.value.find((one) => one.turn)?.turn;
    if (!turn && first) first.isToStop = true;
    if (!turn) return;
    await this.ask("POST", `turns/${turn}/stop`);
    await this.page?.conversation.refresh();
  }

  /** Take a queued message back; one that an agent has begun is only stopped. @param {string} turn */
  async takeBack(turn) {
    const stopped = await this.ask("POST", `turns/${turn}/stop`);
    if (stopped.started_at === null) this.giveBack(stopped.message);
    await this.page?.conversation.refresh();
  }

  /** Choose for a new chat. Files that are there already move to its domain and team. @param {Partial<Choices>} what */
  choose(what) {
    this.choices.value = { ...this.choices.value, ...what };
    if (!this.made) return;
    this.abandon();
    this.files.again();
  }

  /** Focus the text area now, or when it is drawn. */
  focus() {
    this.isToFocus = !this.area;
    this.area?.focus();
  }

  /** Delete the session that was made for files of a message that was never sent. */
  abandon() {
    const { made } = this;
    this.made = null;
    unsent.value = [];
    made?.then((id) => this.ask("DELETE", `sessions/${id}`)).catch(() => null); // it stays, empty
  }

  async #forFiles() {
    if (this.session) return this.session;
    const made = (this.made ??= this.ask("POST", "sessions", this.#chosen).then(({ id }) => id));
    try {
      const id = await made;
      if (this.made === made) [this.madeId, unsent.value] = [id, [id]];
      return id;
    } catch (problem) {
      if (this.made === made) this.made = null; // the next file tries again
      throw problem;
    }
  }

  #filesChanged() {
    const { files } = this;
    this.#untell();
    if (!files.items.value.length && this.made && !this.sent.length) this.abandon();
    if (this.waits.value && !files.isSending) {
      this.waits.value = false;
      this.submit();
    }
  }

  #untell() {
    if (this.problem.value?.status === OURS) this.problem.value = null;
  }

  #tell(title, detail) {
    this.problem.value = new Problem(title, detail, OURS);
  }
}

/** The session made for the files of a new chat that has not begun yet: lists do not show it. */
export const unsent = signal(/** @type {string[]} */ ([]));

/** @type {Map<string, Composer>} */
const composers = new Map();

/** The composer of a session; null: of a new chat. @param {string | null} session */
export const composerOf = (session) => {
  const place = session ?? NEW_CHAT;
  if (!composers.has(place)) composers.set(place, new Composer(session));
  return composers.get(place);
};

/** A new chat is to be written in at once, unless that would open a phone's keyboard. */
export const beginWriting = () => {
  if (matchMedia("(pointer: fine)").matches) composerOf(null).focus();
};

/** The unsent text of a session that is gone goes to a new chat. @param {string | null} session */
export const leaveComposer = (session) => {
  if (session === null) return;
  const { value } = composerOf(session).text;
  composers.delete(session);
  if (value.trim()) composerOf(null).giveBack(value);
};

const storeAll = () => [...composers].map(([place, { text }]) => storeDraft(place, text.value)).every(Boolean);

globalThis.addEventListener?.("pagehide", () => {
  storeAll();
  for (const id of unsent.value) fetch(addressOf(`sessions/${id}`), { method: "DELETE", keepalive: true });
});
globalThis.addEventListener?.("beforeunload", (event) => {
  const isWaiting = [...composers.values()].some(({ waits }) => waits.value);
  if (!storeAll() || isWaiting) event.preventDefault(); // the browser asks
});
