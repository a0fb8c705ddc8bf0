// One task of a plan: its progress, what streams in it, its result or failure, and the decisions that a
// person can make. And the way back from its session.
import { aboutOf } from "../../about.js";
import { answerText, madeArtifacts, taskWords } from "../../acts/plans.js";
import { Refusal, useAct } from "../../acting.js";
import { change, read } from "../../api.js";
import { oneLine } from "../../formats.js";
import { html, icon, useEffect, useState } from "../../html.js";
import { Fold } from "../buttons.js";
import { Code, Markdown } from "../text.js";
import { CellLink, Stale, marksOf } from "./artifact.js";
import { deskOf } from "./approvals.js";
import { PageLink, SessionLink } from "./links.js";
import { Tip } from "./tip.js";
/** @import { Conversation } from "../../store.js" */

const MOST_NAMED = 3;
const CHOICES = [
  ["retry", "Retry", "replay", "Try this task once more"],
  ["skip", "Skip", "skip_next", "Continue without it and the tasks that depend on it"],
  ["stop", "Stop", "stop_circle", "Stop the whole plan"],
];

/** Why a task has failed. */
export const failureWords = ({ error }) =>
  error ? html`<strong>${oneLine(error.title)}.</strong> ${oneLine(error.detail, 1000)}` : "No reason was given.";

const Answer = ({ output, conversation }) => {
  const text = answerText(output);
  if (text === null) return html`<${Code} text=${JSON.stringify(output, null, 2)} reader=${conversation.reader} />`;
  return html`<${Markdown} text=${text} reader=${conversation.reader} marks=${marksOf(conversation)} /><${Stale} text=${text} conversation=${conversation} />`;
};

/** @param {{task: any, before?: string[], conversation: Conversation}} given `before`: what it depends on */
export const Task = ({ task, before = [], conversation }) => {
  const { reader } = conversation;
  return html`
    <p class="cq-small">${taskWords(task, (seconds) => reader.duration(seconds))}</p>
    ${task.description && html`<p>${oneLine(task.description, 1000)}</p>`}
    ${before.length > 0 && html`<p class="cq-small">After ${oneLine(before.join(", "), 600)}</p>`}
    ${task.error && html`<div class="cq-error" role="note">${icon("error")}<div>${failureWords(task)}</div></div>`}
    ${madeArtifacts(task.output).map((one) => html`
      <p>${icon("inventory")} <${CellLink} session=${task.parent_id} artifact=${one.id} version=${one.version}>${oneLine(one.title || "Artifact", 120)}<//></p>`)}
    ${task.output !== null && html`<${Answer} output=${task.output} conversation=${conversation} />`}
    <div class="cq-line">
      ${task.session_id && html`<${SessionLink} session=${task.session_id} readsOnly=${!deskOf(conversation).mayDecide}>${icon("open_in_full")} Open<//>`}
      ${task.usage && html`<span class="cq-small">${reader.number(task.usage.input_tokens + task.usage.output_tokens)} tokens</span>`}
    </div>
    ${task.input && html`<${Fold} sign="input" label="Input"><${Code} text=${JSON.stringify(task.input, null, 2)} reader=${reader} /><//>`}`;
};

/** A failed task asks: why it failed, and the choices. @param {{task: any, conversation: Conversation}} given */
export const TaskQuestion = ({ task, conversation }) => {
  const { act, isActing, problem } = useAct(async (decision) => {
    await change("POST", `tasks/${task.id}/decision`, { decision });
    await Promise.all([aboutOf(conversation).readPlans(), conversation.refresh()]);
  });
  return html`
    <div class="cq-card cq-asks">
      <p>${icon("help")} <strong>${oneLine(task.name, 120)}</strong> has failed.</p>
      <p class="cq-small">${failureWords(task)}</p>
      ${!deskOf(conversation).mayDecide ? html`<p class="cq-small">The owner decides how to continue.</p>`
        : html`<div class="cq-line">${CHOICES.map(([choice, label, sign, help]) => html`
          <${Tip} text=${help}><button type="button" class="cq-button" aria-disabled=${String(isActing)} onClick=${() => act(choice)}>${icon(sign)} ${label}</button><//>`)}
        </div><${Refusal} problem=${problem} />`}
    </div>`;
};

/** Which tasks wait for a decision on a tool call. @param {{tasks: any[], conversation: Conversation}} given */
export const WayToInbox = ({ tasks, conversation }) => {
  if (!tasks.length) return null;
  const names = tasks.slice(0, MOST_NAMED).flatMap(({ name }, place) => [place ? ", " : "", html`<strong>${oneLine(name, 80)}</strong>`]);
  const more = tasks.length > MOST_NAMED ? ` and ${tasks.length - MOST_NAMED} more` : "";
  return html`
    <div class="cq-line">
      <span class="cq-small">${icon("approval")} ${names}${more} ${tasks.length === 1 ? "waits" : "wait"} for a decision on a tool call.</span>
      ${deskOf(conversation).mayDecide && html`<${PageLink} page="inbox">${icon("inbox")} Decide in the Inbox<//>`}
    </div>`;
};

/** The way from a task's session to the one that it belongs to. @param {{conversation: Conversation}} given */
export const Parent = ({ conversation }) => {
  const [parent, keep] = useState(null);
  const id = conversation.session.value?.parent_id;
  useEffect(() => {
    if (id) read(`sessions/${id}`, {}).then(keep).catch(() => keep(null)); // without it, no way back is shown
  }, [id]);
  if (!id || parent?.id !== id) return null;
  return html`<${SessionLink} session=${id} readsOnly=${parent.owner !== conversation.person}>
    ${icon("arrow_back")} A task of <strong>${oneLine(parent.title || "New chat", 80)}</strong><//>`;
};
