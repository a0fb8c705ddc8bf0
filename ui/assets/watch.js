// Looks every few seconds whether what a page shows has changed elsewhere, and has the page drawn
// again only then. A tab that nobody sees does not look; it does as soon as it is seen.
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
      // What was drawn meanwhile is newer than the question; what is on its way draws by itself.
      if (now && now !== stamp && this.set && data === this.data && mayRedraw()) this.set("changed", now);
    }
    this.wait();
  }

  async ask(shown) {
    try {
      const answer = await fetch(`/colloquy/stamp?${new URLSearchParams(shown)}`);
      return answer.ok ? await answer.text() : "";
    } catch {
      return ""; // the pages' server is away: Streamlit says so
    }
  }
}

const watch = (window.colloquyWatch ??= new Watch());

export const mount = (component) => watch.mount(component);
