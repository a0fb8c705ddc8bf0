// A choice of one from a list, which may be long: what is typed filters it.
import { html, icon, useLayoutEffect, useRef, useState } from "../../html.js";

const CHARACTER = 9, ARROW = 60, LEAST = 220; // pixels; names may differ only at their end
const ROOM = 320; // pixels, that a list needs below

/** The options beside a field, which keeps the focus. `draw` gives what is in one. */
export const Options = ({ id, label, items, active, draw, point, choose }) => {
  const list = useRef(null);
  useLayoutEffect(() => {
    const { offsetParent: field } = list.current;
    const { top, bottom } = field.getBoundingClientRect();
    const below = innerHeight - bottom;
    const isAbove = top > Math.min(below, ROOM);
    list.current.classList.toggle("cq-above-it", isAbove);
    list.current.style.maxHeight = `${Math.min(ROOM, (isAbove ? top : below) - 12)}px`;
  }, []);
  useLayoutEffect(() => list.current.children[active]?.scrollIntoView({ block: "nearest" }), [active]);
  return html`
    <ul class="cq-options" role="listbox" id=${id} aria-label=${label} ref=${list}>${items.map((item, n) => html`
      <li role="option" id=${`${id}-${n}`} aria-selected=${String(n === active)} onPointerMove=${() => n !== active && point(n)}
        onMouseDown=${(event) => event.preventDefault()} onClick=${() => choose(n)}>${draw(item)}</li>`)}</ul>`;
};

/**
 * @param {{id: string, label: string, tip?: string, value: string,
 *   options: {value: string, label: string}[], choose: (value: string) => void}} given
 */
export const Choice = ({ id, label, tip = undefined, value, options, choose }) => {
  const [isOpen, tell] = useState(false);
  const [typed, type] = useState(/** @type {string | null} */ (null)); // null: nothing, all are listed
  const [active, point] = useState(0);
  const field = useRef(null);
  const shown = options.find((one) => one.value === value)?.label ?? "";
  const found = options.filter((one) => one.label.toLowerCase().includes((typed ?? "").trim().toLowerCase()));
  const open = () => {
    if (isOpen) return;
    tell(true);
    point(Math.max(0, options.findIndex((one) => one.value === value)));
    field.current.select();
  };
  const close = () => {
    tell(false);
    type(null);
  };
  const filter = ({ target }) => {
    tell(true);
    type(target.value);
    point(0);
  };
  const take = (n) => {
    close();
    if (found[n] && found[n].value !== value) choose(found[n].value);
  };
  const step = (by) => (isOpen ? found.length && point((active + by + found.length) % found.length) : open());
  const press = (event) => {
    const acts = { ArrowDown: () => step(1), ArrowUp: () => step(-1), Enter: () => (isOpen ? take(active) : open()) };
    const act = isOpen && event.key === "Escape" ? close : acts[event.key];
    if (!act || event.isComposing || event.keyCode === 229) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  };
  const width = Math.max(LEAST, ARROW + CHARACTER * Math.max(...options.map((one) => one.label.length)));
  return html`
    <div class="cq-choose" style=${{ width: `${width}px` }}>
      <input type="text" role="combobox" aria-label=${label} title=${tip} autocomplete="off" spellcheck=${false} ref=${field}
        aria-expanded=${String(isOpen)} aria-controls=${isOpen ? id : undefined} aria-autocomplete="list"
        aria-activedescendant=${isOpen && found.length ? `${id}-${active}` : undefined}
        value=${typed ?? shown} onClick=${open} onKeyDown=${press} onBlur=${close} onInput=${filter} />
      ${icon("expand_more")}
      ${isOpen && found.length > 0 && html`<${Options} id=${id} label=${label} items=${found} active=${Math.min(active, found.length - 1)}
        draw=${(one) => one.label} point=${point} choose=${take} />`}
    </div>`;
};
