// One row of the session list. It is drawn anew only if something in it differs: a list of a thousand
// is compared in a moment.
import { html, useLayoutEffect, useRef } from "../../html.js";
import { MARKS, NEW_TITLE, titleOf, whose } from "../../list/rules.js";

export const MOST_TITLE = 200;

/** Edits a title in place: Enter and leaving the field save it, Escape does not. */
export const Rename = ({ title, done, isDrawing = () => false }) => {
  const input = useRef(null);
  const isDone = useRef(false);
  useLayoutEffect(() => input.current.select(), []);
  const finish = (keeps, byKey) => {
    if (isDone.current || isDrawing()) return;
    isDone.current = true;
    const written = input.current.value.trim();
    done(keeps && written && written !== title ? written : null, byKey);
  };
  const pressed = (event) => {
    event.stopPropagation(); // its keys are not for the list
    if (!["Enter", "Escape"].includes(event.key) || event.isComposing) return;
    event.preventDefault(); // the key would otherwise also press the row that gets the focus
    finish(event.key === "Enter", true);
  };
  return html`<input class="title" type="text" maxlength=${MOST_TITLE} aria-label="Title" defaultValue=${title}
    ref=${input} onBlur=${() => finish(true, false)} onKeyDown=${pressed} />`;
};

/**
 * @param {{id: string, title: string, whose: string, mark: string, isOpen: boolean, place: string,
 *   selected: boolean | null, rename: ((title: string | null, byKey: boolean) => void) | null,
 *   isDrawing: () => boolean}} given
 */
export const Row = ({ id, title, whose, mark, isOpen, place, selected, rename, isDrawing }) => {
  const shown = whose ? `${title} · ${whose}` : title;
  const sign = selected === null ? mark : selected ? "on" : "off";
  if (rename) {
    return html`<li class="row renaming" data-session=${id} data-mark=${sign}>
      <${Rename} title=${title === NEW_TITLE ? "" : title} done=${rename} isDrawing=${isDrawing} /></li>`;
  }
  return html`
    <li class="row" data-session=${id} data-mark=${sign}>
      <button type="button" class="open" dir="auto" tabindex=${place} title=${shown}
        aria-label=${mark ? `${shown}, ${MARKS[mark]}` : shown} aria-current=${isOpen ? "page" : null}
        role=${selected === null ? null : "checkbox"} aria-checked=${selected === null ? null : String(selected)}>${shown}</button>
      <button type="button" class="more" tabindex=${place} aria-haspopup="menu" aria-label=${`Actions for ${title}`} data-icon="more_vert"></button>
    </li>`;
};

/** Rows that are taken again as they are, where nothing in them differs. */
export class Rows {
  constructor() {
    this.kept = new Map();
  }

  /** @param {import("../../list/types.js").Session} session @param {Record<string, any>} given what else it shows */
  row(session, given) {
    const { id } = session;
    const said = `${given.mark} ${given.isOpen} ${given.place} ${given.selected}`;
    const before = this.kept.get(id);
    if (before?.session === session && before.said === said && !given.rename && !before.isRenamed) return before.row;
    const row = html`<${Row} key=${id} id=${id} title=${titleOf(session)} whose=${whose(session)} ...${given} />`;
    this.kept.set(id, { session, said, row, isRenamed: Boolean(given.rename) });
    return row;
  }
}
