// What one tab of the browser shows: the open conversation, as the address names it. All that the pages
// mount in a tab share it.
import { Problem, read } from "./api.js";
import { attention } from "./attention.js";
import { Wire } from "./events.js";
import { Reader } from "./formats.js";
import { batch, signal } from "./html.js";
import { host } from "./host.js";
import { keepLooking } from "./looking.js";
import { Conversation } from "./store.js";
import { tab } from "./title.js";

const SERVER_MS = 12_000;
const AGAIN_MS = 3000; // while the service is away
const PATIENCE_MS = 300; // for which the conversation before stays in sight, so that nothing flashes
const ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const POSITION = /^[1-9]\d{0,8}$/;

/** What the address says. @param {string} search */
export const addressed = (search) => {
  const query = new URLSearchParams(search);
  const session = (query.get("session") ?? "").toLowerCase();
  const at = query.get("at") ?? "";
  return {
    session: ID.test(session) ? session : null,
    isBroken: session !== "" && !ID.test(session),
    at: POSITION.test(at) ? Number(at) : null,
    readsOnly: query.get("view") === "read",
  };
};

class App {
  constructor() {
    this.reader = new Reader();
    this.wire = new Wire();
    this.person = "";
    this.isChat = false; // the chat page is open: it changes sessions by itself
    this.server = signal(/** @type {any} */ (null));
    this.problem = signal(/** @type {Problem | null} */ (null)); // the service is away
    this.isBroken = signal(false);
    this.conversation = signal(/** @type {Conversation | null} */ (null));
    this.leave = () => {};
    this.followers = new Set(); // of the server's state: the first of them asks for all
    this.wanted = 0;
    this.opening = signal(""); // what the address names, while that is read
  }

  /** Begin to read what the address names, before the page is there. */
  prepare() {
    this.askServer();
    this.arrive();
  }

  /** The chat page was opened. @returns {() => void} what to do when it is left */
  enter() {
    this.isChat = true;
    if (this.conversation.value) this.conversation.value.person = this.person;
    const came = () => this.arrive();
    addEventListener("popstate", came);
    const unfollow = this.followServer();
    this.arrive();
    return () => {
      this.isChat = false;
      removeEventListener("popstate", came);
      unfollow();
      this.leave();
      this.leave = () => {};
      this.conversation.value = null;
      this.wanted += 1;
      this.opening.value = "";
      tab.name("");
    };
  }

  /** Ask again and again what the service can do and what waits, for any part of the page that follows it.
   * @returns {() => void} the end of it */
  followServer() {
    const follower = Symbol("follower");
    const look = () => [...this.followers][0] === follower && this.askServer();
    this.followers.add(follower);
    if (!this.server.value) this.askServer();
    const unfollow = keepLooking(look, () => (this.problem.value ? AGAIN_MS : SERVER_MS));
    return () => {
      unfollow();
      this.followers.delete(follower);
    };
  }

  async askServer() {
    try {
      this.server.value = await read("server", {}, { isUnattended: true });
      this.problem.value = null;
    } catch (problem) {
      if (!(problem instanceof Problem)) throw problem;
      this.problem.value = problem.isAway ? problem : null;
    }
  }

  /** Show what the address says, if it is not shown already. */
  arrive() {
    const to = addressed(location.search);
    this.isBroken.value = to.isBroken;
    if (this.opening.value === JSON.stringify(to)) return; // it is on its way already
    const open = this.conversation.value;
    if (open && open.id === to.session && open.readsOnly === to.readsOnly && (to.session !== null || !to.isBroken)) {
      this.wanted += 1; // and not another one that is being opened
      this.opening.value = "";
      if (to.at && open.marked.value?.position !== to.at) open.jump(to.at);
      return;
    }
    this.#show(to);
  }

  /** Open a session, or a message of it; on other pages the chat page opens with it.
   * @param {string | null} session null: a new chat @param {{at?: number, view?: "read"}} [place] */
  open(session, place = {}) {
    const given = Object.entries({ session, ...place }).filter(([, value]) => value != null);
    const query = Object.fromEntries(given.map(([name, value]) => [name, String(value)]));
    if (!this.isChat) return host.go("", query);
    const chat = this.conversation.value;
    if (session === null && chat?.isBeginning) chat.isLeft = true; // once it has begun
    const search = new URLSearchParams(query).toString();
    const address = search ? `?${search}` : location.pathname;
    if (location.search !== (search && `?${search}`)) history.pushState(history.state, "", address);
    this.arrive();
  }

  /** The open new chat has become a session. @param {string} session */
  async begun(session) {
    if (this.opening.value) return; // it is being left
    if (this.conversation.value?.isLeft) return this.#show(addressed(location.search));
    history.pushState(history.state, "", `?session=${session}`);
    await this.conversation.value?.begin(session, this.wire);
  }

  async #show(to) {
    const { session, at, readsOnly } = to;
    const number = ++this.wanted;
    this.opening.value = JSON.stringify(to);
    const next = new Conversation(session && `sessions/${session}`, this.reader);
    next.readsOnly = readsOnly;
    next.live.tell = (words) => attention.tell(words);
    const leave = next.follow(this.wire);
    const opened = next.open(at);
    await Promise.race([opened, new Promise((resolve) => setTimeout(resolve, PATIENCE_MS))]);
    if (number !== this.wanted) return leave(); // another one was chosen meanwhile
    next.person = this.person;
    this.leave();
    this.leave = leave;
    batch(() => {
      this.opening.value = "";
      this.conversation.value = next;
    });
  }
}

export const app = new App();
