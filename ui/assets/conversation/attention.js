// Tells people who look elsewhere that their answer is ready, or that it waits for them: a mark
// before the tab's title until they come back, and a notification of their system if they want one.
import { signal } from "./html.js";
import { tab } from "./title.js";

const WANTED = "colloquy-notify"; // in the browser's storage, for all of its tabs
const BLOCKED = "Your browser blocks notifications from this address.";
const MISSING = "This browser shows no notifications.";

const isAway = () => document.hidden || !document.hasFocus();
const isOn = () => window.Notification?.permission === "granted" && Boolean(localStorage.getItem(WANTED));

export class Attention {
  constructor() {
    this.isWanted = signal(isOn());
    this.problem = signal("");
    this.isMarked = false;
    this.shown = /** @type {Notification | null} */ (null);
    for (const event of ["focus", "visibilitychange"]) window.addEventListener(event, () => this.#look());
    window.addEventListener("storage", () => (this.isWanted.value = isOn()));
  }

  /** Ask the browser to show notifications, or have them no more. */
  async toggle() {
    if (this.isWanted.value) {
      localStorage.removeItem(WANTED);
    } else {
      const answer = await Notification.requestPermission();
      this.problem.value = answer === "denied" ? BLOCKED : "";
      if (answer === "granted") localStorage.setItem(WANTED, "yes");
    }
    this.isWanted.value = isOn();
  }

  /** @param {string} text what has happened, for a person who looks elsewhere */
  tell(text) {
    if (!isAway()) return;
    if (isOn()) this.#notify(text);
    this.isMarked = true;
    tab.mark(true);
  }

  #notify(text) {
    try {
      this.shown = new Notification(tab.title, { body: text, tag: location.href });
    } catch {
      this.problem.value = MISSING; // a phone's browser, which shows those of service workers only
      return;
    }
    this.shown.onclick = () => {
      window.focus();
      this.shown.close();
    };
  }

  #look() {
    if (!this.isMarked || isAway()) return;
    this.isMarked = false;
    tab.mark(false);
    this.shown?.close();
  }
}

/** One for the tab. */
export const attention = new Attention();
