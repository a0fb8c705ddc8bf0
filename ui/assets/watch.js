// Checks every few seconds whether what a page shows has changed elsewhere, and redraws the page
// only then. A hidden tab does not check; it does so as soon as it becomes visible.
import { mayRedraw } from "./rest.js";

const LOOK_MS = 4000;

class Watch {
  constructor() {
    document.addEventListener("visibilitychange", () => document.hidden || this.look());
  }

  mount({ data, setTriggerValue }) {
    Object.assign(this, { data, set: setTriggerValue });
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
    this.wait();
  }

  async ask(shown) {
    try {
      const answer = await fetch(`/colloquy/stamp?${new URLSearchParams(shown)}`);
      return answer.ok ? await answer.text() : "";
    } catch {
      return ""; // the pages' server is unavailable: Streamlit says so
    }
  }
}

const watch = (window.colloquyWatch ??= new Watch());

export const mount = (component) => watch.mount(component);
