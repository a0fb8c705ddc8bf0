// Checks every few seconds whether what a page shows has changed elsewhere, and redraws the page
// only then. A hidden tab does not check; it does so as soon as it becomes visible. Where no answer
// comes, the page says that it is cut off: a connection may be lost without being closed, and
// Streamlit, as well as a turn that is followed, would wait in silence. Likewise if the pages' server
// answers and the service behind it does not: drawing the page would only wait for it.
import { make } from "./elements.js";
import { mayRedraw } from "./rest.js";

const LOOK_MS = 4000;
const MOST_MS = 15_000; // the pages' server answers within seconds, even if the API does not
const MEANWHILE = " The page shows the last known state. Turns go on without it, and it reconnects by itself.";
const CUT_OFF = `The connection is interrupted.${MEANWHILE}`;
const AWAY = `The service does not answer.${MEANWHILE}`;
const NOT_NOW = 503;
const SIGNED_OUT = 401;

class Watch {
  constructor() {
    this.notice = make("div", "cut-off");
    this.notice.setAttribute("role", "alert");
    document.addEventListener("visibilitychange", () => document.hidden || this.look());
  }

  mount({ data, setTriggerValue }) {
    Object.assign(this, { data, set: setTriggerValue });
    if (data.says_away) this.tell(""); // a drawing has come that says it itself
    this.wait();
    return () => {
      if (this.set === setTriggerValue) this.set = null;
    };
  }

  wait() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.look(), LOOK_MS);
  }

  async look() {
    const { data } = this;
    if (this.set && !document.hidden) {
      const { stamp, shown } = data;
      const now = await this.ask(shown);
      // A drawing made since the request is newer than its answer; a run in progress draws anyway.
      if (now && now !== stamp && this.set && data === this.data && mayRedraw()) this.set("changed", now);
    }
    if (!this.set) this.tell(""); // a page that does not check has come
    this.wait();
  }

  async ask(shown) {
    try {
      const signal = AbortSignal.timeout(MOST_MS);
      const answer = await fetch(`/colloquy/stamp?${new URLSearchParams(shown)}`, { signal });
      const stamp = await answer.text();
      if (answer.status === SIGNED_OUT) window.colloquySignIn.check();
      this.tell(answer.status === NOT_NOW && !this.data.says_away ? AWAY : "");
      return answer.ok ? stamp : "";
    } catch {
      this.tell(CUT_OFF);
      return "";
    }
  }

  tell(text) {
    document.body.toggleAttribute("data-colloquy-cut-off", text !== "");
    if (this.notice.textContent !== text) this.notice.textContent = text;
    if (!text) this.notice.remove();
    else if (!this.notice.isConnected) document.body.append(this.notice);
  }
}

const watch = (window.colloquyWatch ??= new Watch());

export const mount = (component) => watch.mount(component);
