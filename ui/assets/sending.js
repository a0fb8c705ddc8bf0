// Sends the composer's text straight to the pages' own route, so that a simultaneous click can
// neither lose nor duplicate it, as happens with messages to Streamlit. Messages with files go
// through Streamlit, which has the files; so do messages written before this script is loaded, or
// below an earlier part of the history. Streamlit accepts no message while a file is being uploaded,
// and may lose one while it draws the page: Enter then waits, in any composer. It draws nothing until
// the API has read all files, so the message is shown here until then.
import { isSettled, settled } from "./rest.js";

const COMPOSER = '[class*="st-key-composer-"]';
const EARLIER = ".st-key-latest"; // an earlier part of the history is shown: Streamlit sends
const SEND = '[data-testid="stChatInputSubmitButton"]';
const FILE = '[data-testid="stFileChip"]';
const ON_ITS_WAY = '[data-testid="stFileChipIconSpinner"]';
const NOT_ARRIVED = '[data-testid="stFileChipIconError"]';
const NAME = '[data-testid="stFileChipName"]';
const ATTACHED = '[class*="st-key-leave-out-"]'; // uploaded, to go with the next message
const FAILED = {
  title: "The service does not answer",
  detail: "Your message was not sent. It is back in the composer.",
};
const FILES_GONE = "Its files were lost while the page changed. Add them again, then send it.";
const IN_DRAFT = "You left its session before it was drawn. The message is a draft there.";
const MOST_MS = 30_000; // to wait for a page that is drawn but not reported, or was left
const LOOK_MS = 20;
const write = Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, "value").set;

const after = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

const newKey = () =>
  [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");

export const put = (area, text) => {
  write.call(area, text);
  area.dispatchEvent(new Event("input", { bubbles: true }));
};

const nameOf = (composer) => [...composer.classList].find((one) => one.startsWith("st-key-composer-"));

/** The messages that one tab sends. `onChange` is called when one is sent, accepted or refused. */
export class Sending {
  constructor(onChange) {
    this.messages = []; // in flight, or accepted but not on the page yet
    this.problem = null;
    this.begun = new Map(); // composers of new chats, and the sessions begun in them
    this.returned = new Map(); // texts that are back in their composers: refused, or taken back
    this.takenBack = new Set(); // the turns of queued messages that are back in their composers
    this.keys = new Map(); // of texts not accepted: sent again, a text counts as the same message
    this.last = null; // the sending under way
    this.waiting = new Map(); // composers in which Enter waits for the page: what the latest sends
    this.isPassing = false; // Streamlit is to have what is being submitted
    this.onChange = onChange;
    document.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.shiftKey) return;
      if (event.target.matches?.("textarea")) this.take(event);
    }, true);
    document.addEventListener("click", (event) => {
      if (event.target.closest?.(SEND)) this.take(event);
    }, true);
    document.addEventListener("input", ({ target }) => this.forgetRemoved(target), true);
  }

  /** The page was drawn for `session`, which is null for a new chat; `gone` does not exist any more. */
  update({ session, gone, domain, team, choice, composer, turns, takenBack }) {
    if (session !== this.session) this.messages = this.messages.filter((one) => !one.turn || one.session === session);
    Object.assign(this, { session, domain, team, choice, composer });
    document.body.dataset.colloquySends = composer;
    window.colloquyDrafts?.place(composer, session ?? this.begun.get(composer) ?? null, gone);
    for (const { turn, text } of takenBack) {
      if (!this.takenBack.has(turn)) this.giveBack({ text, composer });
      this.takenBack.add(turn);
    }
    const drawn = new Set(turns);
    this.messages = this.messages.filter((one) => !drawn.has(one.turn) && !one.isPassed);
  }

  /** The chat is no longer drawn: another page comes, or an earlier part of the history. */
  leave() {
    this.messages = this.messages.filter((one) => !one.isPassed);
    this.composer = null;
    delete document.body.dataset.colloquySends;
  }

  /** The messages that belong to the open page. */
  get shown() {
    return this.messages.filter((one) => one.page === this.session || one.session === this.session);
  }

  /** When the latest message shown in the chat that it belongs to was sent; 0: there is none. */
  get lastAt() {
    return Math.max(0, ...this.messages.filter((one) => one.page === this.session && one.page).map(({ at }) => at));
  }

  /** The session that a new chat has become, until its page is open. */
  get beginning() {
    const first = this.messages.find((one) => one.page === null && one.session);
    return this.session === null && first ? first.session : null;
  }

  /** The model for the next message: what its field shows, even before the page knows of it. */
  get model() {
    const { model, key, shown } = this.choice;
    const field = key && document.querySelector(`.st-key-${key} input`);
    return field && field.value && field.value !== shown ? field.value : model;
  }

  take(event) {
    const composer = event.target.closest(COMPOSER);
    const area = composer?.querySelector("textarea");
    if (!area) return;
    if (composer.querySelector(ON_ITS_WAY)) return this.waitForFiles(composer, area, event);
    const notArrived = composer.querySelector(NOT_ARRIVED);
    if (notArrived) {
      event.preventDefault();
      event.stopPropagation();
      return this.keepFor(notArrived.closest(FILE));
    }
    const name = nameOf(composer);
    if (name !== this.composer || composer.querySelector(FILE) || document.querySelector(ATTACHED)) {
      if (!this.isPassing && !(isSettled() && !this.isComing(name))) this.waitForPage(composer, area, event);
      else if (name === this.composer) this.showPassed(composer, area.value);
      return;
    }
    event.preventDefault();
    event.stopPropagation();
    const text = area.value;
    if (!text.trim()) return;
    this.waiting.delete(name);
    const { session: page, domain, team, model } = this;
    const message = { text, page, domain, team, model, composer: name, at: Date.now() };
    this.messages.push(message);
    this.returned.delete(message.composer);
    this.problem = null;
    this.sendInOrder(message); // before the page is drawn, which takes longer
    put(area, "");
    this.onChange(message);
  }

  /** Show a message that Streamlit sends until the page is drawn with it, or with why it is refused. */
  showPassed(composer, text) {
    const { length } = composer.querySelectorAll(FILE);
    const files = length ? `Sending ${length === 1 ? "a file" : `${length} files`}…` : "";
    const message = { text: `${text}\n\n${files}`.trim(), page: this.session, isPassed: true, at: Date.now() };
    if (message.text) this.messages.push(message);
    this.onChange(message);
  }

  sendInOrder(message) {
    const next = () => this.send(message);
    const sending = this.last ? this.last.then(next, next) : next();
    this.last = sending;
    const end = () => {
      if (this.last === sending) this.last = null;
    };
    sending.then(end, end);
  }

  /** Keep a message whose file was not uploaded: without it, the question may mean something else. */
  keepFor(file) {
    const name = file.querySelector(NAME)?.textContent ?? "A file";
    this.tell(`${name} was not uploaded`, "Remove it or add it again, then send your message.");
  }

  tell(title, detail) {
    this.problem = { title, detail };
    this.onChange({});
  }

  /** Send once all files have arrived; not if one fails, or if the text is changed before that. */
  waitForFiles(composer, area, event) {
    event.preventDefault();
    event.stopPropagation();
    if ("colloquyWaits" in composer.dataset) return;
    composer.dataset.colloquyWaits = "";
    const name = nameOf(composer);
    const stop = () => {
      changes.disconnect();
      area.removeEventListener("input", stop);
      delete composer.dataset.colloquyWaits;
    };
    const changes = new MutationObserver(() => {
      if (composer.querySelector(ON_ITS_WAY)) return;
      stop();
      const notArrived = composer.querySelector(NOT_ARRIVED);
      if (notArrived) this.keepFor(notArrived.closest(FILE));
      else if (nameOf(composer) === name) composer.querySelector(SEND)?.click();
    });
    changes.observe(composer, { childList: true, subtree: true });
    area.addEventListener("input", stop);
  }

  /** Whether this script will know the composer once the page has reported what it shows. */
  isComing(name) {
    return name !== this.composer && document.querySelector(EARLIER) === null;
  }

  /** Whether Enter in the composer can send now: the page shows it, and a message is safe there. */
  isReady(name) {
    if (!document.querySelector(`.${name} textarea`)) return false;
    return name === this.composer || (isSettled() && !this.isComing(name));
  }

  /** Send once the page is drawn; not if the text is changed after the latest Enter. The composer
     may be replaced meanwhile, or leave the page; its text is a draft until it is sent. */
  async waitForPage(composer, area, event) {
    event.preventDefault();
    event.stopPropagation();
    const name = nameOf(composer);
    const isFirst = !this.waiting.has(name);
    this.waiting.set(name, { area, value: area.value, hasFiles: composer.querySelector(FILE) !== null });
    window.colloquyDrafts?.set(name, area.value);
    if (!isFirst) return;
    await settled();
    const until = Date.now() + MOST_MS;
    const areFilesLost = (waited) => waited?.hasFiles && !waited.area.isConnected;
    while (!this.isReady(name) && !areFilesLost(this.waiting.get(name)) && Date.now() < until) await after(LOOK_MS);
    const waited = this.waiting.get(name);
    if (!this.waiting.delete(name)) return; // sent by another Enter meanwhile
    if (areFilesLost(waited)) return this.tell("Your message was not sent", FILES_GONE);
    const { value } = waited;
    const current = document.querySelector(`.${name} textarea`);
    const isReplaced = current !== waited.area;
    if (!current) return value.trim() && this.tell("Your message was not sent", IN_DRAFT);
    if (isReplaced && !current.value) {
      put(current, value);
      await after(0); // Streamlit has heard of it then
    }
    if (current.value === value) this.pass(current.closest(COMPOSER));
  }

  /** Send what is in a composer now: itself where it is known, else by Streamlit. */
  pass(composer) {
    this.isPassing = true;
    composer.querySelector(SEND)?.click();
    this.isPassing = false;
  }

  async send(message) {
    const { text, composer } = message;
    const begun = () => message.page ?? this.begun.get(composer) ?? null;
    if (!begun()) await this.chosen(message);
    const { domain, team, model } = message;
    const words = `${composer} ${model ?? ""} ${text}`;
    const session = begun();
    const key = this.keys.get(words) ?? newKey();
    this.keys.set(words, key);
    try {
      const answer = await fetch("/colloquy/send", {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ session, text, key, model, ...(session ? { domain: null } : { domain, team }) }),
      });
      const told = await answer.json();
      if (!answer.ok) throw told;
      Object.assign(message, { session: told.session_id, turn: told.turn_id });
      this.keys.delete(words);
      if (!message.page) {
        this.begun.set(composer, told.session_id);
        window.colloquyDrafts?.place(composer, told.session_id);
      }
      // If another page was opened in the meantime, the message is in its session.
      if (![message.page, told.session_id].includes(this.session)) this.drop(message);
    } catch (problem) {
      this.problem = problem.title ? problem : FAILED;
      this.drop(message);
      this.giveBack(message);
    }
    this.onChange(message);
  }

  /** A new chat begins with the choices made for it, even those made just before its message. */
  async chosen(message) {
    await settled();
    if (this.composer === message.composer) {
      Object.assign(message, { domain: this.domain, team: this.team, model: this.model });
    }
  }

  /** A refused text that is taken out of its composer is another message when it is written again. */
  forgetRemoved(area) {
    const composer = area.closest?.(COMPOSER);
    const name = composer && nameOf(composer);
    const returned = this.returned.get(name);
    if (!returned || area.value.includes(returned)) return;
    this.returned.delete(name);
    for (const words of [...this.keys.keys()]) if (words.startsWith(`${name} `)) this.keys.delete(words);
  }

  drop(message) {
    this.messages = this.messages.filter((one) => one !== message);
  }

  /** Put a text back into its composer: after those returned before it, above newer words. */
  giveBack({ text, composer }) {
    const area = document.querySelector(`.${composer} textarea`);
    const value = area?.value ?? window.colloquyDrafts?.get(composer) ?? "";
    const before = this.returned.get(composer);
    const isThere = before && value.startsWith(before);
    const returned = isThere ? `${before}\n\n${text}` : text;
    const newer = (isThere ? value.slice(before.length) : value).trim();
    this.returned.set(composer, returned);
    const all = newer ? `${returned}\n\n${newer}` : returned;
    if (area) put(area, all);
    else window.colloquyDrafts?.set(composer, all);
  }
}
