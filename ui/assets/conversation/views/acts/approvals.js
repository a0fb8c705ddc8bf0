// A call that waits for a person's decision: what the agent wants to run, and the decisions.
import { MOST_CHARS, expiryWords, wordsHold } from "../../acts/calls.js";
import { Problem, change } from "../../api.js";
import { oneLine } from "../../formats.js";
import { html, icon, signal, useEffect, useRef, useState } from "../../html.js";
import { toBlocks, waits } from "../../blocks.js";
import { waitingWords } from "../../turn.js";
import { Arguments } from "../arguments.js";
import { EditForm, TextForm } from "./forms.js";
import { Refusal, useAct } from "../../acting.js";
import { Tip } from "./tip.js";
/** @import { DisplayMessage } from "../../types.js" */

/**
 * What is being written of a decision: kept while other pages are looked at, until it is accepted.
 * @typedef {object} Writing
 * @property {string} kind the open form, if any
 * @property {Record<string, string>} texts
 * @property {Record<string, string>} errors
 * @property {boolean} remember
 * @property {Problem | null} refusal
 */
/** @type {Map<string, {value: Writing}>} */
const writing = new Map();

/** @param {string} id of the approval */
export const writingOf = (id) => {
  if (!writing.has(id)) writing.set(id, signal({ kind: "", texts: {}, errors: {}, remember: false, refusal: null }));
  return writing.get(id);
};

/** Where a card stands: who may decide there, and what is read again afterwards.
 * @typedef {{reader: import("../../formats.js").Reader, mayDecide: boolean, decided: (approval: any) => Promise<any>}} Desk */

/** @param {import("../../store.js").Conversation} conversation @returns {Desk} */
export const deskOf = (conversation) => ({
  reader: conversation.reader,
  mayDecide: ["continue", "own"].includes(conversation.session.value?.rights) && !conversation.readsOnly,
  decided: () => conversation.refresh(),
});

const CONFLICT = 409;

/** Send a decision. If somebody else was first, what became of the call is shown instead.
 * @param {Record<string, any>} content @param {Record<string, any>} decision @param {Desk} desk */
const decide = async ({ approval_id, arguments_hash }, decision, desk) => {
  const written = writingOf(approval_id);
  const path = `approvals/${approval_id}`;
  let approval = null;
  try {
    approval = await change("POST", `${path}/decision`, { ...decision, arguments_hash });
    written.value = { ...written.value, refusal: null };
  } catch (problem) {
    if (!(problem instanceof Problem)) throw problem;
    written.value = { ...written.value, refusal: problem };
    if (problem.status !== CONFLICT) return;
  }
  await desk.decided(approval);
};

/** The element that follows a call once it is decided: the next card, or the composer. */
const heirOf = (id) => {
  const all = () => [...document.querySelectorAll("[data-call]")].map((one) => /** @type {HTMLElement} */ (one));
  const later = all().map(({ dataset }) => dataset.call);
  later.splice(0, later.indexOf(id) + 1);
  return () => {
    const waiting = all();
    if (waiting.some(({ dataset }) => dataset.call === id)) return null;
    const next = later.map((one) => waiting.find(({ dataset }) => dataset.call === one)).find(Boolean) ?? waiting[0];
    return next ?? /** @type {HTMLElement | null} */ (document.querySelector(".cq-composer textarea"))
      ?? document.querySelector("main");
  };
};

/** Whoever decides by keys goes on with the next call, or in the composer. As a whole, since an Enter
 * that is pressed twice must not decide two calls. */
const goOn = (heir) => requestAnimationFrame(() => requestAnimationFrame(() => {
  const next = heir();
  if (!next || (document.activeElement && document.activeElement !== document.body)) return;
  if (!next.matches("textarea")) next.tabIndex = -1;
  next.focus();
}));

const Expiry = ({ expires }) => {
  const [now, look] = useState(Date.now());
  useEffect(() => {
    const timer = setTimeout(() => look(Date.now()), wordsHold(expires, Date.now()) * 1000);
    return () => clearTimeout(timer);
  }, [expires, now]);
  return html`<span class="cq-small">${icon("timer")} ${expiryWords(expires, now)}</span>`;
};

const SIGNS = { edit: "edit", reject: "block", respond: "reply" };
const LABELS = { edit: "Edit", reject: "Reject", respond: "Respond" };
const FORMS = {
  reject: { field: "reason", label: "Reason, shown to the agent (optional)", sendLabel: "Reject this call" },
  respond: { field: "answer", label: "Result for the agent, instead of running the call", sendLabel: "Send as the result" },
};

/** The decisions, or the fields of one. @param {{content: Record<string, any>, desk: Desk}} given */
const Decisions = ({ content, desk }) => {
  const written = writingOf(content.approval_id);
  const { kind, remember, refusal } = written.value;
  const root = useRef(null);
  const before = useRef(kind);
  const { act, isActing } = useAct((decision) => decide(content, decision, desk));
  const open = (to) => (written.value = { ...written.value, kind: to, errors: {}, refusal: null });
  useEffect(() => {
    if (before.current === kind) return;
    const to = kind ? "textarea, input, select" : `[data-kind="${before.current}"]`;
    before.current = kind;
    root.current.querySelector(to)?.focus();
  }, [kind]);
  const send = async (decision, event) => {
    const heir = heirOf(content.approval_id);
    await act(decision);
    if (event.detail === 0) goOn(heir);
  };
  const allowed = content.allowed_decisions;
  const form = { content, written, isActing, send, back: () => open("") };
  if (kind) {
    return html`<div ref=${root}>
      <${Refusal} problem=${refusal} />
      ${kind === "edit" ? html`<${EditForm} ...${form} />` : html`<${TextForm} ...${form} ...${FORMS[kind]} kind=${kind} reader=${desk.reader} most=${MOST_CHARS} />`}
    </div>`;
  }
  return html`<div ref=${root}>
    <${Refusal} problem=${refusal} />
    <div class="cq-line">
      ${allowed.includes("approve") && html`
        <button type="button" class="cq-button cq-main" data-kind="approve" onClick=${(event) => send({ type: "approve", ...(remember && { remember }) }, event)}>${icon("check")} Approve</button>`}
      ${Object.keys(SIGNS).filter((one) => allowed.includes(one)).map((one) => html`
        <button type="button" class="cq-button" data-kind=${one} disabled=${isActing} onClick=${() => open(one)}>${icon(SIGNS[one])} ${LABELS[one]}</button>`)}
    </div>
    ${allowed.includes("approve") && html`
      <${Tip} isBelow text="It will not ask again here. The session's menu lists the allowed tools. Each task of a plan is a session of its own.">
        <label class="cq-check"><input type="checkbox" checked=${remember} onChange=${({ currentTarget }) => (written.value = { ...written.value, remember: currentTarget.checked })} />
          When approving, also allow ${oneLine(content.name, 80)} for the rest of this session</label>
      <//>`}
  </div>`;
};

/** The card of a call that waits. Who may not decide sees it without the decisions.
 * @param {{asked: {content: Record<string, any>}, desk: Desk}} given */
export const Waiting = ({ asked: { content }, desk }) => html`
  <div class="cq-card" data-call=${content.approval_id} role="group" aria-label=${`Waits for approval: ${oneLine(content.name, 120)}`}>
    <p class="cq-line">${icon("approval")} <strong>${oneLine(content.name, 120)}</strong>
      ${content.expires_at && html`<${Expiry} expires=${content.expires_at} />`}</p>
    <p>${oneLine(content.description, 2000)}</p>
    <${Arguments} given=${content.arguments} reader=${desk.reader} />
    ${desk.mayDecide && html`<${Decisions} content=${content} desk=${desk} />`}
  </div>`;

/** Why a decision was not taken although the call has ended. @param {{id: string}} given */
export const NotTaken = ({ id }) => {
  const problem = writing.get(id)?.value.refusal;
  return problem ? html`<p class="cq-small">${icon("info")} ${oneLine(problem.detail, 2000)}</p>` : null;
};

/** What a waiting turn waits for, possibly for days, and the way to decide on all of it.
 * @param {{conversation: import("../../store.js").Conversation}} given */
export const Waits = ({ conversation }) => {
  const desk = deskOf(conversation);
  const [turn] = conversation.turns.value;
  const rows = turn?.status === "waiting" ? conversation.page.value?.items ?? [] : [];
  const blocks = toBlocks(rows.filter(({ turn_id }) => turn_id === turn.id));
  const calls = blocks.filter(waits).map(({ row, asked }) => (asked ?? row).content);
  const { act, isActing } = useAct(async () => {
    const all = { ...desk, decided: async () => undefined };
    for (const content of calls.filter(({ allowed_decisions }) => allowed_decisions.includes("approve"))) {
      const { remember } = writingOf(content.approval_id).value;
      await decide(content, { type: "approve", ...(remember && { remember }) }, all);
    }
    await desk.decided(null);
  });
  if (!calls.length) return null;
  return html`
    <div class="cq-line cq-waits">
      <span class="cq-small">${icon("approval")} ${waitingWords(calls.length, !desk.mayDecide)}</span>
      ${calls.length > 1 && desk.mayDecide && html`
        <button type="button" class="cq-button" aria-disabled=${String(isActing)} onClick=${() => act()}>${icon("done_all")} Approve all ${calls.length}</button>`}
    </div>`;
};
