// The agents that a message may mention, in a list beside the text. The text keeps the focus; screen readers
// get the options through it, and their number from a line that is visible to them only.
import { begunAt, completion, meant } from "../../composer/mentions.js";
import { html, useEffect, useState } from "../../html.js";
import { markOf } from "../../marks.js";
import { Options } from "./choice.js";

const LIST = "cq-mentions";
const CLOSED = { from: -1, found: [], active: 0 };

const Agent = ({ name, description }) => {
  const { colour, initial } = markOf(name);
  return html`<span class="cq-face" aria-hidden="true" style=${{ background: colour }}>${initial}</span>
    <span class="cq-words"><b>${name}</b><span class="cq-about">${description}</span></span>`;
};

/**
 * The list for a text area: what to draw, what to tell screen readers of it, and what its keys do first.
 * @param {{current: HTMLTextAreaElement | null}} area @param {any[]} agents @param {(text: string) => void} write
 */
export const useMentions = (area, agents, write) => {
  const [state, tell] = useState(CLOSED);
  const [left, leave] = useState(-1); // Escape has closed the list for the word that begins here
  const { found, active, from } = state;
  const isOpen = found.length > 0;

  /** Open, update or close the list, depending on the text before the cursor. */
  const look = () => {
    const { value, selectionStart, selectionEnd } = area.current;
    const begun = agents.length && selectionStart === selectionEnd ? begunAt(value, selectionStart) : null;
    if (!begun) leave(-1);
    const offered = !begun || begun.from === left ? [] : meant(agents, begun.typed);
    if (!offered.length) return isOpen && tell(CLOSED);
    const before = found[active]?.name;
    tell({ from: begun.from, found: offered, active: Math.max(0, offered.findIndex(({ name }) => name === before)) });
  };
  useEffect(() => {
    const moved = () => document.activeElement === area.current && look();
    document.addEventListener("selectionchange", moved);
    return () => document.removeEventListener("selectionchange", moved);
  });
  useEffect(() => {
    if (area.current && document.activeElement === area.current) look(); // a name may have been begun before
  }, [agents]);

  const choose = (n) => {
    const { current } = area;
    const { written, from: start, end, cursor } = completion(current.value, current.selectionStart, from, found[n].name);
    tell(CLOSED);
    current.setRangeText(written, start, end, "end");
    current.selectionStart = current.selectionEnd = cursor;
    write(current.value);
  };
  const point = (n) => tell({ ...state, active: n });
  /** @returns whether the key was the list's */
  const press = ({ key, shiftKey, ctrlKey, metaKey, altKey }) => {
    if (!isOpen || shiftKey || ctrlKey || metaKey || altKey) return false;
    const acts = {
      ArrowDown: () => point((active + 1) % found.length),
      ArrowUp: () => point((active + found.length - 1) % found.length),
      Enter: () => choose(active),
      Tab: () => choose(active),
      Escape: () => { leave(from); tell(CLOSED); },
    };
    acts[key]?.();
    return key in acts;
  };
  const list = isOpen && html`
    <${Options} id=${LIST} label="Agents" items=${found} active=${active} point=${point} choose=${choose}
      draw=${(agent) => html`<${Agent} ...${agent} />`} />
    <div class="cq-unseen" role="status">${found.length === 1 ? "1 agent" : `${found.length} agents`}</div>`;
  const told = isOpen
    ? { "aria-autocomplete": "list", "aria-controls": LIST, "aria-activedescendant": `${LIST}-${active}` }
    : {};
  return { list, told, look, press, close: () => tell(CLOSED) };
};
