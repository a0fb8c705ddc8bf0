// What the active turn does at the moment, below what it has said.
import { html } from "../html.js";
import { Notify } from "./notify.js";

/** @param {{conversation: import("../store.js").Conversation}} given */
export const Status = ({ conversation }) => {
  const words = conversation.live.words();
  if (!words) return null;
  // A screen reader says what the turn does, not how the time goes by.
  return html`
    ${words.notice && html`<p class="cq-status cq-notice">${words.notice}</p>`}
    ${words.activity && html`<p class="cq-status"><span class="cq-activity" role="status">${words.activity}</span><span>${words.details}</span> <${Notify} key=${conversation.turns.value[0]?.id} /></p>`}`;
};
