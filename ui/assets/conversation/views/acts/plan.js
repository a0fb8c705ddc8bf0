// A plan in the chat: its picture, the tasks that ask, and the chosen task.
import { aboutOf } from "../../about.js";
import { NODE, layOut, lookOf, planWords, taskWords } from "../../acts/plans.js";
import { oneLine } from "../../formats.js";
import { html, icon, signal, useMemo } from "../../html.js";
import { Fold } from "../buttons.js";
import { Task, TaskQuestion, WayToInbox, failureWords } from "./task.js";
/** @import { Conversation } from "../../store.js" */

const [MOST_ASKING, MOST_FAILED] = [10, 5];
/** The chosen task of each plan: kept while another session is looked at. */
const chosen = signal(/** @type {Record<string, string>} */ ({}));

/** A button for each task, with lines between them. */
const Picture = ({ plan, task, choose }) => {
  const { places, lines, width, height } = useMemo(() => layOut(plan.tasks), [plan.tasks]);
  return html`
    <div class="colloquy-plan" role="group" tabindex="0" aria-label=${`Plan ${oneLine(plan.name, 120)}: ${planWords(plan)}`}>
      <div class="canvas" style=${{ width: `${width}px`, height: `${height}px` }}>
        <svg aria-hidden="true" width=${width} height=${height}>${lines.map((line) => html`<path d=${line} />`)}</svg>
        ${plan.tasks.map((one) => {
          const { word, sign, colour } = lookOf(one);
          const { x, y } = places.get(one.temp_id);
          return html`<button key=${one.temp_id} type="button" title=${`${one.name} (${one.agent}): ${word}`} aria-label=${`${one.name}, ${one.agent}, ${word}`}
            aria-pressed=${String(one === task)} data-colour=${colour} data-status=${one.status}
            style=${{ left: `${x}px`, top: `${y}px`, width: `${NODE.width}px`, height: `${NODE.height}px` }} onClick=${() => choose(one.temp_id)}>
            <span>${one.name}</span><span>${sign} ${word} · ${one.agent}</span>
          </button>`;
        })}
      </div>
    </div>`;
};

/** The tasks that ask, with their choices, and the failed ones, a sentence each. */
const WhatWentWrong = ({ plan, shown, conversation }) => {
  const asking = plan.tasks.filter(({ status }) => status === "asking");
  const failed = plan.tasks.filter((task) => task.status === "failed" && task !== shown);
  return html`
    ${asking.slice(0, MOST_ASKING).map((task) => html`<${TaskQuestion} key=${`${task.id} ${task.tries}`} task=${task} conversation=${conversation} />`)}
    ${asking.length > MOST_ASKING && html`<p class="cq-small">${asking.length - MOST_ASKING} more tasks are asking; they appear after these.</p>`}
    <${WayToInbox} tasks=${plan.tasks.filter((task) => task.waiting_for_approval)} conversation=${conversation} />
    ${failed.slice(0, MOST_FAILED).map((task) => html`<p class="cq-small">${icon("error")} ${oneLine(task.name, 120)}: ${failureWords(task)}</p>`)}
    ${failed.length > MOST_FAILED && html`<p class="cq-small">${failed.length - MOST_FAILED} more tasks have failed: see the picture.</p>`}`;
};

/** A call of a sub-agent: a line. */
const SubAgent = ({ task, conversation }) => {
  const isRunning = ["running", "pending"].includes(task.status) && !task.waiting_for_approval;
  const words = taskWords(task, (seconds) => conversation.reader.duration(seconds)).split(" · ").slice(1).join(" · ");
  const label = html`<strong>${oneLine(task.agent, 60)}</strong> · ${oneLine(task.description || task.name, 80)} · ${words}`;
  return html`
    <${Fold} isStep sign=${isRunning ? "hourglass_empty" : lookOf(task).icon} label=${label}><${Task} task=${task} conversation=${conversation} /><//>
    ${task.status === "asking" && html`<${TaskQuestion} key=${task.tries} task=${task} conversation=${conversation} />`}
    <${WayToInbox} tasks=${[task].filter((one) => one.waiting_for_approval)} conversation=${conversation} />`;
};

/** @param {{plan: any, conversation: Conversation}} given */
export const Plan = ({ plan, conversation }) => {
  if (plan.kind === "sub_agent" && plan.tasks.length) return html`<${SubAgent} task=${plan.tasks[0]} conversation=${conversation} />`;
  const choice = chosen.value[plan.id];
  const task = plan.tasks.find(({ temp_id }) => temp_id === choice);
  const choose = (id) => (chosen.value = { ...chosen.value, [plan.id]: id === choice ? "" : id });
  const before = task ? plan.tasks.filter(({ temp_id }) => task.depends_on.includes(temp_id)).map(({ name }) => name) : [];
  return html`
    <section class="cq-card cq-plan" aria-label=${`Plan ${oneLine(plan.name, 120)}`}>
      <p>${icon("account_tree")} <strong>${oneLine(plan.name, 120)}</strong></p>
      <p class="cq-small">${planWords(plan)}</p>
      ${plan.reasoning && html`<p class="cq-small">${oneLine(plan.reasoning, 600)}</p>`}
      <${Picture} plan=${plan} task=${task} choose=${choose} />
      ${task ? html`<div class="cq-card">
          <p>${icon(lookOf(task).icon)} <strong>${oneLine(task.name, 120)}</strong></p>
          <${Task} task=${task} before=${before} conversation=${conversation} />
        </div>`
        : html`<p class="cq-small">Choose a task to see its work and its result.</p>`}
      <${WhatWentWrong} plan=${plan} shown=${task} conversation=${conversation} />
    </section>`;
};

/** The plan that a call has started, if that is known. @param {Conversation} conversation @param {string} row */
export const planOf = (conversation, row) => aboutOf(conversation).planOf.value.get(row);
