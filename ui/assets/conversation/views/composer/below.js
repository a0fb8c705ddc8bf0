// What follows a history: the queue behind the running turn, and what may be done once the last has ended.
import { Refusal, useAct } from "../../acting.js";
import { change } from "../../api.js";
import { composerOf } from "../../composer/composer.js";
import { PROCEED, isRetryable, offerOf } from "../../composer/words.js";
import { html, icon, useEffect, useRef, useState } from "../../html.js";
import { queueWords } from "../../turn.js";
import { ToPage } from "../to_page.js";
import { useHeir } from "./composer.js";

const Queued = ({ turn, conversation }) => {
  const { act, problem } = useAct(() => composerOf(conversation.id).takeBack(turn.id));
  return html`
    <div class="cq-message cq-of-person">
      <span class="cq-face" aria-hidden="true">${icon("person")}</span>
      <div class="cq-body">
        <div class="cq-verbatim">${turn.message}</div>
        <div class="cq-line">
          <span class="cq-small">${icon("schedule")} ${queueWords(turn.queue_position)}</span>
          ${conversation.may.value.ask && html`
            <button type="button" class="colloquy-text-button" title="The message returns to the composer" onClick=${act}>${icon("undo")} Take back</button>`}
        </div>
        <${Refusal} problem=${problem} />
      </div>
    </div>`;
};

/** The messages that wait behind the running turn. @param {{conversation: any}} given */
export const Queue = ({ conversation }) => conversation.queue.value.map((turn) => html`
  <${Queued} key=${turn.id} turn=${turn} conversation=${conversation} />`);

/** An act on what has ended. When its button disappears, the composer has the focus. */
const Act = ({ conversation, sign, label, tip = undefined, isMain = false, fn }) => {
  const button = useRef(null);
  const { act, isActing, problem } = useAct(fn);
  useHeir(button, composerOf(conversation.id));
  return html`<p><button type="button" ref=${button} class=${`cq-button ${isMain ? "cq-primary" : ""}`} title=${tip}
    aria-disabled=${String(isActing)} onClick=${act}>${icon(sign)} ${label}</button></p><${Refusal} problem=${problem} />`;
};

const Retry = ({ conversation, turn }) => {
  const [isOffered, offer] = useState(false);
  useEffect(() => {
    let isWanted = true;
    conversation.ask(`turns/${turn}`).then((found) => isWanted && offer(isRetryable(found)), () => null);
    return () => { isWanted = false; };
  }, [turn]);
  return isOffered && html`<${Act} conversation=${conversation} sign="replay" label="Retry"
    fn=${() => change("POST", `turns/${turn}/retry`).then(() => conversation.refresh())} />`;
};

/** Retry, Rebuild, Continue in a new session or Proceed, as the last row offers; only its plan gives work to a task. */
export const Offers = ({ conversation }) => {
  const { id, isBusy, sent, may, page, isAtEnd } = conversation;
  const last = page.value?.items.at(-1);
  if (!last || !may.value.ask || isBusy.value || sent.value.length || !isAtEnd) return null;
  const offers = {
    proceed: () => html`<${Act} conversation=${conversation} sign="play_arrow" label="Proceed" isMain
      tip="Agree to this plan as it is; to change it, write what is to be different"
      fn=${async () => composerOf(id).say(PROCEED)} />`,
    rebuild: () => html`<${Act} conversation=${conversation} sign="build" label="Rebuild what the agent remembers"
      tip="Uses the messages above; the conversation itself does not change"
      fn=${() => change("POST", `sessions/${id}/rebuild`).then(() => conversation.refresh())} />`,
    new_session: () => html`<p><${ToPage} page="configuration" query=${{ session: id }} sign="arrow_forward" label="Continue in a new session" isIcon=${false} /></p>`,
    retry: () => html`<${Retry} key=${last.turn_id} conversation=${conversation} turn=${last.turn_id} />`,
  };
  return offers[offerOf(last)]?.() ?? null;
};

/** That a session was cleared, until something is said in it again. */
export const Cleared = ({ conversation }) => {
  const { id, session, page, isBusy, may, sent } = conversation;
  const branch = session.value?.branch ?? null;
  const isEmpty = branch !== null && page.value?.items.length === 0 && !isBusy.value && !sent.value.length;
  const [left, tell] = useState(/** @type {number | null} */ (null));
  useEffect(() => {
    let isWanted = isEmpty;
    tell(null);
    if (isEmpty) conversation.ask(`sessions/${id}/branches`).then((found) => isWanted && tell(found.left), () => null);
    return () => { isWanted = false; };
  }, [isEmpty, id, branch]);
  const { act, problem } = useAct(() => change("POST", `sessions/${id}/branch`, { branch: left }).then(() => conversation.refresh()));
  if (!isEmpty || left === null) return null;
  return html`
    <div class="cq-cleared">
      <p class="cq-small">This session was cleared: the agent starts anew. The earlier messages are kept, as are files and artifacts.</p>
      ${may.value.ask && html`<button type="button" class="colloquy-text-button" onClick=${act}>${icon("undo")} Show the earlier messages</button>`}
      <${Refusal} problem=${problem} />
    </div>`;
};
