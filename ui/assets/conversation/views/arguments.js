// A call's arguments exactly as they run, including invisible characters.
import { oneLine } from "../formats.js";
import { html } from "../html.js";
import { Code, Verbatim } from "./text.js";

// Characters that are invisible or change the reading direction.
const UNSEEN = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e007f}]/gu;
const spelled = (value) =>
  JSON.stringify(value, null, 2).replace(UNSEEN, (found) =>
    [...found].map((sign) => [...Array(sign.length)].map((_, at) => `\\u${sign.charCodeAt(at).toString(16).padStart(4, "0")}`).join("")).join(""));

const Value = ({ value, arrow = "", reader }) => {
  if (value === undefined) return html`<p class="cq-small">${arrow}not given</p>`;
  if (value === "") return html`<p class="cq-small">${arrow}empty text</p>`;
  if (value !== null && (typeof value === "object" || (typeof value === "string" && value.search(UNSEEN) >= 0))) {
    return html`<${Code} text=${spelled(value)} reader=${reader} />`;
  }
  const text = typeof value === "string" ? value : JSON.stringify(value);
  if (text.includes("\n") || text !== text.trim()) return html`<${Code} text=${text} reader=${reader} />`;
  return html`<${Verbatim} text=${arrow + text} reader=${reader} />`;
};

export const Arguments = ({ given = {}, reader }) => {
  const all = Object.entries(given);
  if (!all.length) return html`<p class="cq-small">No arguments</p>`;
  return html`<dl class="cq-arguments">${all.map(([name, value]) => html`
    <dt>${oneLine(name)}</dt><dd><${Value} value=${value} reader=${reader} /></dd>`)}</dl>`;
};

/** What an edit has changed: each argument before and after. */
export const Changes = ({ before, after, reader }) => {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  const changed = names.filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]));
  return html`
    <p class="cq-small">${changed.length ? "Edited: before → after" : "Edited: nothing was changed"}</p>
    <dl class="cq-arguments">${changed.map((name) => html`
      <dt>${oneLine(name)}</dt>
      <dd><${Value} value=${before[name]} reader=${reader} /><${Value} value=${after[name]} arrow="→ " reader=${reader} /></dd>`)}</dl>`;
};
