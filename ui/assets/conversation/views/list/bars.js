// What lies below the sessions: how many are selected, what can be undone, and what was refused.
import { html } from "../../html.js";
import { MOST_SELECTED } from "../../list/sessions.js";

/** @param {{count: number, isArchived: boolean, putAway: () => void, remove: (event: any) => void, cancel: () => void}} given */
export const SelectionBar = ({ count, isArchived, putAway, remove, cancel }) => count > 0 && html`
  <div class="bar selection" role="group" aria-label="Selected sessions">
    <span class="count">${count} selected${count >= MOST_SELECTED ? ", the maximum" : ""}</span>
    <button type="button" class="act" onClick=${putAway}>${isArchived ? "Restore" : "Archive"}</button>
    <button type="button" class="act danger" onClick=${remove}>Delete</button>
    <button type="button" class="act" aria-label="Cancel selection" data-icon="close" onClick=${cancel}></button>
  </div>`;

/** @param {{count: number, undo: () => void}} given */
export const DeletionBar = ({ count, undo }) => {
  const words = count ? `Deleting ${count === 1 ? "1 session" : `${count} sessions`} …` : "";
  return html`
    ${count > 0 && html`<div class="bar deletion"><span class="count">${words}</span><button type="button" class="act" onClick=${undo}>Undo</button></div>`}
    <div class="announced" role="status">${words && `${words} It can be undone.`}</div>`;
};

/** @param {{problem: import("../../api.js").Problem | null, close: () => void}} given */
export const ProblemBar = ({ problem, close }) => problem && html`
  <div class="bar" role="alert">
    <span class="refusal"><strong>${problem.title}.</strong> ${problem.detail}</span>
    <button type="button" class="act" aria-label="Close" data-icon="close" onClick=${close}></button>
  </div>`;
