// The menu of a row, and what is asked before a deletion: a popover beside what opened it.
import { html, useLayoutEffect, useRef } from "../../html.js";

/** Below its anchor, or above where there is no room below; never beyond the window. */
const placeBeside = (box, { left, top, bottom }) => {
  const { offsetWidth: width, offsetHeight: height } = box;
  const below = bottom + height <= window.innerHeight;
  box.style.top = `${Math.max(0, below ? bottom : top - height)}px`;
  box.style.left = `${Math.max(0, Math.min(left, window.innerWidth - width))}px`;
};

const PLACES = {
  ArrowDown: (place, count) => (place + 1) % count,
  ArrowUp: (place, count) => (place - 1 + count) % count,
  Home: () => 0,
  End: (_, count) => count - 1,
};

/**
 * What opens beside an element: its first button has the focus, arrows move it, Escape and a press
 * elsewhere close it. @param {{role: "menu" | "alertdialog", name: string, anchor: Element,
 *   close: () => void, children: any}} given
 */
export const Beside = ({ role, name, anchor, close, children }) => {
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  useLayoutEffect(() => {
    box.current.showPopover();
    placeBeside(box.current, anchor.getBoundingClientRect());
    box.current.querySelector("button").focus();
    anchor.setAttribute("aria-expanded", "true");
    return () => anchor.removeAttribute("aria-expanded");
  }, [role, name, anchor]);
  const moved = (event) => {
    const buttons = [...box.current.querySelectorAll("button")];
    const to = PLACES[event.key]?.(buttons.indexOf(/** @type {any} */ (document.activeElement)), buttons.length);
    if (event.key === "Tab" && role === "menu") close();
    if (to === undefined) return;
    event.preventDefault();
    buttons[to].focus();
  };
  const toggled = ({ newState }) => newState === "closed" && close();
  return html`<div class="menu" popover="auto" role=${role} aria-label=${name} ref=${box} onKeyDown=${moved} onToggle=${toggled}>${children}</div>`;
};

/** Close the popover, which gives the focus back, and then act. */
const chosen = (act = () => {}) => ({ currentTarget }) => {
  currentTarget.closest("[popover]").hidePopover();
  act();
};

/** @param {{name: string, anchor: Element, choices: [string, string, () => void][], close: () => void}} given */
export const Menu = ({ name, anchor, choices, close }) => html`
  <${Beside} role="menu" name=${name} anchor=${anchor} close=${close}>
    ${choices.map(([sign, words, act]) => html`
      <button key=${words} type="button" role="menuitem" class="choice" data-icon=${sign} onClick=${chosen(act)}>${words}</button>`)}
  <//>`;

/** @param {{what: string, seconds: number, anchor: Element, remove: () => void, close: () => void}} given */
export const AskToDelete = ({ what, seconds, anchor, remove, close }) => html`
  <${Beside} role="alertdialog" name=${`Delete ${what}?`} anchor=${anchor} close=${close}>
    <p class="asked">Delete ${what}?</p>
    <p class="words">All messages and files are permanently deleted after ${seconds} seconds. A running turn is stopped first.</p>
    <div class="answers">
      <button type="button" class="choice" onClick=${chosen()}>Keep</button>
      <button type="button" class="choice danger" onClick=${chosen(remove)}>Delete</button>
    </div>
  <//>`;
