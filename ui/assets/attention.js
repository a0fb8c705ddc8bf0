// Tells people who look elsewhere that their answer is ready, or that it waits for them: a mark
// before the tab's title until they come back, and a notification of their system if they want one.
import { make } from "./elements.js";

const WANTED = "colloquy-notify"; // in the browser's storage, for all of its tabs
const OFFER_MS = 5000; // a turn that has taken this long may be left alone
const MARK = "● ";
const OFFER = "Notify me when it ends";
const ON = "You will be notified · Turn off";
const BLOCKED = "Your browser blocks notifications from this address.";
const MISSING = "This browser shows no notifications.";

const isAway = () => document.hidden || !document.hasFocus();

export class Attention {
  constructor() {
    this.button = make("button", "text-button");
    this.button.type = "button";
    this.button.hidden = true;
    this.button.addEventListener("click", () => this.toggle());
    this.titles = new MutationObserver(() => this.mark());
    for (const event of ["focus", "visibilitychange"]) window.addEventListener(event, () => this.look());
  }

  /** Put the offer beside the words on a running turn, once the turn has taken long. */
  draw(words, isRunning) {
    if (!isRunning) this.since = null;
    else this.since ??= Date.now();
    if (this.button.parentElement !== words) words.append(this.button);
    const isOffered = window.Notification && isRunning && Date.now() - this.since >= OFFER_MS;
    this.button.hidden = !isOffered;
    const text = this.problem ?? (this.isWanted ? ON : OFFER);
    if (this.button.textContent !== text) this.button.textContent = text;
  }

  get isWanted() {
    return window.Notification?.permission === "granted" && Boolean(localStorage.getItem(WANTED));
  }

  async toggle() {
    if (this.isWanted) {
      localStorage.removeItem(WANTED);
    } else {
      const answer = await Notification.requestPermission();
      this.problem = answer === "denied" ? BLOCKED : null;
      if (answer === "granted") localStorage.setItem(WANTED, "yes");
    }
    this.draw(this.button.parentElement, true);
  }

  tell(text) {
    if (!isAway()) return;
    if (this.isWanted) this.notify(text);
    this.isMarked = true;
    this.mark();
  }

  notify(text) {
    const title = document.title.replace(MARK, "");
    try {
      this.shown = new Notification(title, { body: text, tag: location.href });
    } catch {
      this.problem = MISSING; // a phone's browser, which shows those of service workers only
      return;
    }
    this.shown.onclick = () => {
      window.focus();
      this.shown.close();
    };
  }

  /** Put the mark before the title, also before one that the page sets meanwhile. */
  mark() {
    if (!document.title.startsWith(MARK)) document.title = MARK + document.title;
    this.titles.observe(document.querySelector("title"), { childList: true });
  }

  look() {
    if (!this.isMarked || isAway()) return;
    this.isMarked = false;
    this.titles.disconnect();
    document.title = document.title.replace(MARK, "");
    this.shown?.close();
  }
}
