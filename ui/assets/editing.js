// The text of a message that is being edited. Streamlit tells an input its text once, with one run:
// where the next run follows so closely that a browser draws both at once, the input stays empty.
import { put } from "./sending.js";

const FRAMES = 30; // the input may be drawn a moment after this hears of it

export class Editing {
  /** The page was drawn: `edit` says which input is to hold which text, null that none does. */
  update(edit) {
    if (edit?.key === this.key) return;
    this.key = edit?.key;
    if (edit) this.fill(edit, FRAMES);
  }

  fill({ key, text }, frames) {
    const area = document.querySelector(`.st-key-${key} textarea`);
    if (area?.value || key !== this.key || !frames) return;
    // Streamlit's own text comes first where it comes: it needs some frames, too.
    if (area && frames < FRAMES / 2) put(area, text);
    else requestAnimationFrame(() => this.fill({ key, text }, frames - 1));
  }
}
