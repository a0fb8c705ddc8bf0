// Where a reader is in a history: at its end as it is opened and grows, until they scroll away; and at
// the same message while others are put before or after it.

/** @param {Element} element @returns {Element} */
const scrollerOf = (element) => {
  for (let one = element.parentElement; one; one = one.parentElement) {
    if (/auto|scroll/.test(getComputedStyle(one).overflowY)) return one;
  }
  return /** @type {Element} */ (document.scrollingElement);
};

const INPUTS = ["wheel", "touchmove", "keydown", "pointerdown"];
const KEYS_UP = ["ArrowUp", "PageUp", "Home"];
const INPUT_MS = 1000; // within which a reader's input scrolls
const ARRIVING_MS = 2000; // within which Streamlit still scrolls a page that it has opened to its top
const OPENING = "details:not([open]) > summary, .cq-choice button";

/** The place of one history, whose elements have their ids in `data-id`. */
export class Place {
  /** @param {HTMLElement} root */
  constructor(root) {
    this.root = root;
    this.view = scrollerOf(root);
    this.isAtEnd = false;
    this.end = 0; // as it was drawn last
    this.inputAt = -INPUT_MS;
    this.anchor = null;
    this.arrived = /** @type {{at: number, again: () => void} | null} */ (null);
    this.resized = new ResizeObserver(() => {
      if (this.isAtEnd) this.#scrollToEnd();
      this.end = this.#currentEnd();
    });
    this.resized.observe(root);
    this.resized.observe(this.view); // a phone's keyboard opens
    const on = (target, name, act) => {
      target.addEventListener(name, act, { capture: true, passive: true });
      return () => target.removeEventListener(name, act, { capture: true });
    };
    this.listening = [
      ...INPUTS.map((name) => on(window, name, (event) => this.#input(event))),
      on(document, "scroll", ({ target }) => (target === this.view || target === document) && this.#scrolled()),
      // What a reader opens stays where it is and grows downwards.
      on(root, "click", ({ target }) => target.closest?.(OPENING) && (this.isAtEnd = false)),
    ];
  }

  close() {
    this.resized.disconnect();
    this.listening.forEach((end) => end());
  }

  /** Be at the end from now on. */
  toEnd() {
    this.isAtEnd = true;
    this.#arrive(() => this.#scrollToEnd());
  }

  /** Be at the top. */
  toTop() {
    this.isAtEnd = false;
    this.view.scrollTo(0, 0);
  }

  /** Be at one message. @param {string} id */
  to(id) {
    this.isAtEnd = false;
    const find = () => this.root.querySelector(`[data-id="${CSS.escape(id)}"]`);
    this.#arrive(() => find()?.scrollIntoView({ block: "center" }));
  }

  /** Remember the message at this side of the window, before others are put there. @param {"first" | "last"} side */
  hold(side) {
    this.isAtEnd = false;
    this.arrived = null;
    const all = /** @type {HTMLElement[]} */ ([...this.root.querySelectorAll("[data-id]")]);
    const one = side === "first" ? all[0] : all.at(-1);
    this.anchor = one ? { id: one.dataset.id, top: one.getBoundingClientRect().top } : null;
  }

  /** The history was drawn: put what is held where it was. */
  restore() {
    const { anchor } = this;
    this.anchor = null;
    const one = anchor && this.root.querySelector(`[data-id="${CSS.escape(anchor.id)}"]`);
    if (!one) return;
    this.view.scrollBy(0, one.getBoundingClientRect().top - anchor.top);
    this.end = this.#currentEnd(); // what was put after it is no end that the reader came to
  }

  #arrive(again) {
    this.arrived = { at: performance.now(), again };
    this.end = this.#currentEnd();
    again();
  }

  #input({ type, deltaY, key, target }) {
    this.arrived = null;
    const mayScrollUp = type === "touchmove" || deltaY < 0 || KEYS_UP.includes(key)
      || (type === "pointerdown" && target === this.view); // its scrollbar
    if (mayScrollUp) this.inputAt = performance.now();
  }

  // A page that has changed since it was drawn may have scrolled by itself: it was cut, or grew on.
  #scrolled() {
    if (this.arrived && this.view.scrollTop === 0 && performance.now() - this.arrived.at < ARRIVING_MS) {
      const { again } = this.arrived;
      this.arrived = null; // once: what cannot be reached is not tried for ever
      again();
      return;
    }
    const end = this.#currentEnd();
    const isThere = this.view.scrollTop > Math.min(this.end, end) - 2;
    const isMeant = this.end === end || performance.now() - this.inputAt < INPUT_MS;
    if (isThere || isMeant) this.isAtEnd = isThere;
  }

  #currentEnd() {
    return this.view.scrollHeight - this.view.clientHeight;
  }

  #scrollToEnd() {
    this.view.scrollTo(0, this.view.scrollHeight);
  }
}
