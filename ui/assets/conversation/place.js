// Where a reader is in a history: at its end as it is opened and grows, and at the same message
// while others are put before or after it.

/** @param {Element} element @returns {Element} */
const scrollerOf = (element) => {
  for (let one = element.parentElement; one; one = one.parentElement) {
    if (/auto|scroll/.test(getComputedStyle(one).overflowY)) return one;
  }
  return /** @type {Element} */ (document.scrollingElement);
};

const INPUTS = ["wheel", "touchmove", "keydown", "pointerdown"];

/** The place of one history, whose elements have their ids in `data-id`. */
export class Place {
  /** @param {HTMLElement} root */
  constructor(root) {
    this.root = root;
    this.view = scrollerOf(root);
    this.isAtEnd = false; // kept there until the reader does something
    this.anchor = null;
    this.resized = new ResizeObserver(() => this.isAtEnd && this.#scrollToEnd());
    this.resized.observe(root);
    this.read = () => (this.isAtEnd = false);
    for (const name of INPUTS) addEventListener(name, this.read, { capture: true, passive: true });
  }

  close() {
    this.resized.disconnect();
    for (const name of INPUTS) removeEventListener(name, this.read, { capture: true });
  }

  /** Be at the end from now on. */
  toEnd() {
    this.isAtEnd = true;
    this.#scrollToEnd();
  }

  /** Remember the message at this side of the window, before others are put there. @param {"first" | "last"} side */
  hold(side) {
    const all = /** @type {HTMLElement[]} */ ([...this.root.querySelectorAll("[data-id]")]);
    const one = side === "first" ? all[0] : all.at(-1);
    this.anchor = one ? { id: one.dataset.id, top: one.getBoundingClientRect().top } : null;
  }

  /** The history was drawn: put what is held where it was. */
  restore() {
    const { anchor } = this;
    this.anchor = null;
    const one = anchor && this.root.querySelector(`[data-id="${CSS.escape(anchor.id)}"]`);
    if (one) this.view.scrollBy(0, one.getBoundingClientRect().top - anchor.top);
  }

  #scrollToEnd() {
    this.view.scrollTo(0, this.view.scrollHeight);
  }
}
