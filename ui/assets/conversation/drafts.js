// Texts that stream, until they are stored. A row of the history stands for each, so that what is
// stored takes its place and nothing moves.
/** @import { DisplayMessage } from "./types.js" */
/** @typedef {{add(text: string): void, draw(): void}} Drawn what draws a text as it grows */

const COSTLY_MS = 16;

/** Draws soon, once for all that comes meanwhile; what takes long to draw is drawn less often. */
class Painter {
  constructor() {
    this.stale = new Set();
    this.cost = 0;
    this.isDue = false;
  }

  /** @param {Draft} draft */
  soon(draft) {
    this.stale.add(draft);
    if (this.isDue) return;
    this.isDue = true;
    const paint = () => {
      this.isDue = false;
      const began = performance.now();
      for (const one of this.stale) one.drawn?.draw();
      this.stale.clear();
      this.cost = performance.now() - began;
    };
    if (this.cost > COSTLY_MS) setTimeout(paint, 2 * this.cost);
    else requestAnimationFrame(paint);
  }
}

const painter = new Painter();

/** @typedef {{id: string, kind: "text" | "thinking", turn: string, agent: string, after: number}} Begun */

/** One message as it is being written. */
export class Draft {
  /** @param {Begun} begun */
  constructor({ id, kind, turn, agent, after }) {
    this.text = "";
    this.drawn = /** @type {Drawn | null} */ (null);
    /** @type {DisplayMessage} */
    this.row = {
      id,
      position: after,
      message_type: "assistant",
      content_type: kind,
      content: {},
      sequence: 0,
      status: "pending",
      agent,
      turn_id: turn,
      created_at: "",
      metadata: {},
      draft: this,
    };
  }

  /** @param {string} piece */
  add(piece) {
    this.text += piece;
    this.drawn?.add(piece);
    if (this.drawn) painter.soon(this);
  }

  /** It is drawn by this from now on, which has all of its text. @param {Drawn | null} drawn */
  drawnBy(drawn) {
    this.drawn = drawn;
  }
}
