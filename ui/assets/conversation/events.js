// The events of sessions as they happen, over one connection of this tab: `ui/relay`. It is made anew
// when it breaks, and goes on after the last event that has come.
import { pageOf, parse } from "./api.js";
/** @import { Told } from "./types.js" */

const URL_PATH = "/colloquy/live";
const RETRY_MS = [200, 500, 1000, 2000];
const SIGNED_OUT = 4401;

/** @typedef {{session: string, after: string | null, tell: (told: Told[]) => void}} Follower */

/**
 * The next piece of a message, which is told as the milliseconds since the one before, and its text.
 * @param {Told} before @param {[number, string]} piece @returns {Told}
 */
export const continued = (before, [later, text]) => {
  const [at, ...rest] = before.id.split("-");
  return { ...before, id: [Number(at) + later, ...rest].join("-"), data: { ...before.data, text } };
};

/** One connection, for all sessions that the tab follows. */
export class Wire {
  constructor() {
    /** @type {Map<string, Follower>} */
    this.followers = new Map();
    this.failures = 0;
    this.socket = /** @type {WebSocket | null} */ (null);
  }

  /**
   * Hear of a session's events, from the beginning of its active turn on. Events may come twice.
   * @param {string} session @param {Follower["tell"]} tell @returns {() => void} the end of it
   */
  follow(session, tell) {
    const follower = { session, after: null, tell };
    this.followers.set(session, follower);
    if (!this.socket) this.#connect();
    else this.#send({ follow: session, after: null });
    return () => {
      if (this.followers.get(session) !== follower) return;
      this.followers.delete(session);
      this.#send({ leave: session });
    };
  }

  #connect() {
    const url = new URL(URL_PATH, location.origin);
    url.protocol = url.protocol.replace("http", "ws");
    url.searchParams.set("person", pageOf());
    const socket = (this.socket = new WebSocket(url));
    socket.onopen = () => {
      for (const { session, after } of this.followers.values()) this.#send({ follow: session, after });
    };
    let before = null;
    socket.onmessage = ({ data }) => {
      this.failures = 0;
      const told = /** @type {(Told | [number, string])[]} */ (parse(data));
      this.#take(told.map((one) => (before = Array.isArray(one) ? continued(before, one) : one)));
    };
    socket.onclose = ({ code }) => {
      this.socket = null;
      if (code === SIGNED_OUT) window.colloquySignIn?.check();
      else this.#again();
    };
  }

  #again() {
    const wait = RETRY_MS[Math.min(this.failures, RETRY_MS.length - 1)];
    this.failures += 1;
    const away = [...this.followers.values()].map(({ session }) => ({ session, state: "away" }));
    if (this.failures > 1) this.#take(away);
    setTimeout(() => this.socket ?? (this.followers.size && this.#connect()), wait);
  }

  /** @param {Told[]} told */
  #take(told) {
    for (const [session, its] of Map.groupBy(told, (one) => one.session)) {
      const follower = this.followers.get(session);
      if (!follower) continue;
      follower.after = its.findLast(({ id }) => id)?.id ?? follower.after;
      follower.tell(its);
    }
  }

  #send(message) {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
  }
}
