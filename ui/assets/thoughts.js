// Thinking while it streams: all of it, as plain text, which is never taken away from its reader.
import { make } from "./elements.js";

const END_PX = 1;

/** Streaming thinking, in a box that stays at its end until the reader scrolls up. */
export class Thoughts {
  constructor() {
    this.element = make("details", "thinking");
    this.element.open = true;
    this.element.append(make("summary", "summary", "Thinking"));
    this.box = this.element.appendChild(make("div", "thoughts"));
    this.box.tabIndex = 0; // to be scrolled by keys
    Object.assign(this, { undrawn: "", top: Infinity }); // of the reader's place; Infinity: the end
    this.box.onscroll = () => {
      const { scrollTop, scrollHeight, clientHeight } = this.box;
      this.top = scrollHeight - clientHeight - scrollTop > END_PX ? scrollTop : Infinity;
    };
    this.element.ontoggle = () => this.settle();
  }

  add(text) {
    this.undrawn += text;
  }

  draw() {
    this.box.append(this.undrawn); // a selection in the text before it stays
    this.undrawn = "";
    if (this.top === Infinity) this.settle();
  }

  /** Scroll to the reader's place: a box that leaves the page, or is folded, forgets it. */
  settle() {
    this.box.scrollTop = Math.min(this.top, this.box.scrollHeight);
  }
}
