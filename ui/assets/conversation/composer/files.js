// Files that a person gives to a message or a page: uploaded at once, one after the other, so that the
// browser's few connections stay free. Those that were not uploaded stay, with the reason, until the
// person has decided: without them, the question may mean something else.
import { Problem, addressOf, change, pageOf } from "../api.js";
import { signal } from "../html.js";

const TAKEN = 409; // another file has this name
const SIGNED_OUT = 401;
const MB = 1_000_000;

/**
 * @typedef {object} Item
 * @property {number} number
 * @property {File} file
 * @property {"sending" | "there" | "refused" | "large" | "lost" | "alike"} state
 * @property {number} share of it that was sent
 * @property {string} problem
 * @property {any} details as the API has read it
 */

/** Upload a file, and tell how much of it was sent. `fetch` does not tell that.
 * @param {string} path of the API @param {FormData} form @param {(share: number) => void} tell
 * @param {AbortSignal} signal @returns {Promise<any>} */
export const upload = (path, form, tell, signal) => new Promise((resolve, reject) => {
  const request = new XMLHttpRequest();
  const lose = () => reject(new Problem("The file was not uploaded", "The connection was lost.", 0));
  request.upload.onprogress = ({ loaded, total }) => tell(total ? loaded / total : 0);
  request.onerror = lose;
  request.onabort = lose;
  request.onload = () => {
    const { status, responseText } = request;
    let body = null;
    try {
      body = JSON.parse(responseText);
    } catch {
      // no JSON: a proxy's page
    }
    if (status === SIGNED_OUT) window.colloquySignIn?.check();
    if (status < 300 && body) resolve(body);
    else reject(new Problem(body?.title ?? "", body?.detail ?? `HTTP status ${status}.`, status));
  };
  signal.addEventListener("abort", () => request.abort());
  request.open("POST", addressOf(path));
  request.setRequestHeader("Colloquy-Person", pageOf());
  request.send(form);
});

export class Files {
  /** @param {string} path of the API that takes them
   * @param {(ifExists: string) => Record<string, string> | Promise<Record<string, string>>} fields sent before each file
   * @param {() => void} changed called when a file is on its way no more @param {typeof upload} [send] */
  constructor(path, fields, changed, send = upload) {
    this.path = path;
    this.fields = fields;
    this.changed = changed;
    this.send = send;
    this.items = signal(/** @type {Item[]} */ ([]));
    /** @type {Map<number, AbortController>} */
    this.stops = new Map();
    this.last = Promise.resolve();
    this.count = 0;
  }

  get isSending() {
    return this.items.value.some(({ state }) => state === "sending");
  }

  /** The first of those that keep the message from being sent. */
  get bad() {
    return this.items.value.find(({ state }) => !["sending", "there"].includes(state));
  }

  /** Those that the message names. */
  get there() {
    return this.items.value.flatMap(({ details }) => details ?? []);
  }

  /** @param {Iterable<File>} files @param {number} maxMb */
  add(files, maxMb) {
    for (const file of files) {
      const number = ++this.count;
      const isLarge = file.size > maxMb * MB;
      const problem = isLarge ? `The file is larger than ${maxMb} MB.` : "";
      const state = isLarge ? "large" : "sending";
      this.items.value = [...this.items.value, { number, file, state, share: 0, problem, details: null }];
      if (!isLarge) this.#send(number, "refuse");
    }
  }

  /** Send a file again: one whose name another one has, or that was lost.
   * @param {number} number @param {"replace" | "add" | "refuse"} answer what becomes of another one of this name */
  decide(number, answer) {
    if (!["alike", "lost"].includes(this.#at(number)?.state)) return;
    this.#set(number, { state: "sending", share: 0, problem: "" });
    this.#send(number, answer);
  }

  /** Leave a file out; one that was uploaded is deleted. @param {number} number */
  async remove(number) {
    const item = this.#at(number);
    this.stops.get(number)?.abort();
    this.keep((one) => one !== item);
    this.changed();
    if (item?.details) await change("DELETE", `files/${item.details.id}`);
  }

  /** Show those only of which this is true; the others stay as they are. @param {(item: Item) => boolean} isKept */
  keep(isKept) {
    this.items.value = this.items.value.filter(isKept);
  }

  /** Upload all of them anew, into another session. */
  again() {
    for (const stop of this.stops.values()) stop.abort();
    for (const { number, state } of this.items.value) {
      if (state === "large") continue;
      this.#set(number, { state: "sending", share: 0, problem: "", details: null });
      this.#send(number, "refuse");
    }
  }

  #at(number) {
    return this.items.value.find((one) => one.number === number);
  }

  /** @param {number} number @param {Partial<Item>} what */
  #set(number, what) {
    this.items.value = this.items.value.map((one) => (one.number === number ? { ...one, ...what } : one));
  }

  #send(number, ifExists) {
    const stop = new AbortController();
    this.stops.set(number, stop);
    this.last = this.last.then(async () => {
      const told = stop.signal.aborted ? {} : await this.#sent(number, ifExists, stop.signal);
      if (stop.signal.aborted) return;
      this.#set(number, told);
      this.changed();
    });
  }

  /** @returns {Promise<Partial<Item>>} what became of it */
  async #sent(number, ifExists, signal) {
    const { file } = this.#at(number);
    try {
      const form = new FormData();
      for (const [name, value] of Object.entries(await this.fields(ifExists))) form.append(name, value);
      form.append("file", file, file.name);
      const tell = (share) => this.#set(number, { share });
      return { state: "there", details: await this.send(this.path, form, tell, signal) };
    } catch (failure) {
      const problem = failure instanceof Problem ? failure : new Problem("", String(failure), 0);
      if (problem.status === TAKEN) return { state: "alike", problem: problem.detail };
      return { state: problem.isAway ? "lost" : "refused", problem: problem.detail };
    }
  }
}
