// Which sessions have an answer that this tab has not shown: those that became idle since it last
// looked, until they are opened. A reload keeps it.
import { signal } from "../html.js";
/** @import { Session } from "./types.js" */

const KEY = "colloquy-unread";

export class Unread {
  /** @param {Pick<Storage, "getItem" | "setItem">} [store] */
  constructor(store = globalThis.sessionStorage) {
    this.store = store;
    const { busy = [], unread = [] } = JSON.parse(store?.getItem(KEY) ?? "{}");
    this.busy = new Set(/** @type {string[]} */ (busy));
    this.ids = signal(new Set(/** @type {string[]} */ (unread)));
  }

  /** Take in how sessions are now. @param {Session[]} sessions @param {string | null} openId */
  note(sessions, openId) {
    const unread = new Set(this.ids.value);
    for (const { id, status } of sessions) {
      if (status !== "idle") this.busy.add(id);
      else if (this.busy.delete(id)) unread.add(id);
    }
    this.#keep(unread, openId);
  }

  /** A session is seen. @param {string | null} openId */
  see(openId) {
    this.#keep(new Set(this.ids.value), openId);
  }

  #keep(unread, openId) {
    unread.delete(openId);
    const isSame = unread.size === this.ids.value.size && [...unread].every((id) => this.ids.value.has(id));
    if (!isSame) this.ids.value = unread;
    this.store?.setItem(KEY, JSON.stringify({ busy: [...this.busy], unread: [...unread] }));
  }
}
