// A message's text in an input, in the message's place.
import { Refusal, useAct } from "../../acting.js";
import { composerOf } from "../../composer/composer.js";
import { html, icon, useLayoutEffect, useRef } from "../../html.js";
import { BUSY, changeTurn, edited, leaveEdit } from "./actions.js";
/** @import { DisplayMessage } from "../../types.js" */

/** Enter sends, as in the composer; Escape leaves it. What is refused stays.
 * @param {{row: DisplayMessage, conversation: import("../../store.js").Conversation}} given */
export const Editor = ({ row, conversation }) => {
  const input = useRef(/** @type {HTMLTextAreaElement | null} */ (null));
  const isBusy = conversation.isBusy.value;
  const { text } = edited.value;
  const { act, isActing, problem } = useAct(async () => {
    await changeTurn(conversation, `turns/${row.turn_id}/edit`, { message: text });
    if (edited.value?.id !== row.id) return;
    edited.value = null;
    if ([document.body, input.current].includes(document.activeElement)) composerOf(conversation.id).focus();
  });
  const send = () => !isBusy && text.trim() && act();
  const leave = () => leaveEdit(row.id);
  useLayoutEffect(() => {
    input.current.focus();
    input.current.setSelectionRange(text.length, text.length);
  }, []);
  const press = (event) => {
    if (event.isComposing) return;
    if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      send();
    } else if (event.key === "Escape") {
      event.stopPropagation(); // it would stop a turn
      leave();
    }
  };
  return html`
    <div class="cq-edit">
      <textarea ref=${input} class="cq-input" rows="1" dir="auto" aria-label="Edit your message" value=${text} readonly=${isActing}
        disabled=${isBusy && !isActing} onInput=${({ currentTarget }) => (edited.value = { id: row.id, text: currentTarget.value })} onKeyDown=${press}></textarea>
      <button type="button" class="colloquy-text-button" aria-label="Send message" disabled=${isBusy || isActing || !text.trim()} onClick=${send}>${icon("arrow_upward")}</button>
    </div>
    <div class="cq-line cq-actions">
      <button type="button" class="colloquy-text-button" onClick=${leave}>${icon("close")} Cancel</button>
      <span class="cq-small">${isBusy && !isActing ? BUSY : "Later messages are kept as another version"}</span>
    </div>
    <${Refusal} problem=${problem} />`;
};
