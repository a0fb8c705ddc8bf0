// The calls that wait for a decision in any session; decided on the page itself.
import { askedOf } from "../../acts/calls.js";
import { Problem, read } from "../../api.js";
import { app } from "../../app.js";
import { oneLine } from "../../formats.js";
import { html, icon, signal, useEffect, useRef, useState } from "../../html.js";
import { keepLooking } from "../../looking.js";
import { Fold } from "../buttons.js";
import { endWords, isEdited, signOf } from "../outcomes.js";
import { Asked } from "../step.js";
import { Waiting } from "./approvals.js";
import { SessionLink } from "./links.js";
import { Refusal } from "../../acting.js";
/** @import { Reader } from "../../formats.js" */

const PAGE_ROWS = 50;
const ENDED_ROWS = 10;

/** What was decided here, until the page is loaded anew. */
const ended = signal(/** @type {any[]} */ ([]));
/** Other people's sessions are included; the cursors of the pages that were gone through. */
const place = signal({ everyone: false, cursors: /** @type {string[]} */ ([]) });

/** Where a call comes from: its session, the owner, and the message. */
const AskedFor = ({ approval, person, reader }) => {
  const isOwn = approval.owner === person;
  const words = [approval.agent, ...(isOwn ? [] : [approval.owner]), `asked at ${reader.moment(approval.created_at)}`];
  return html`
    <div class="cq-line">
      <${SessionLink} session=${approval.session_id} readsOnly=${!isOwn}>${icon("forum")} <strong>${oneLine(approval.session_title || "New chat", 80)}</strong>
        ${approval.parent_title !== null && ` · a task of ${oneLine(approval.parent_title || "New chat", 80)}`}<//>
      <span class="cq-small">${oneLine(words.join(" · "))}</span>
    </div>
    <p class="cq-small">“${oneLine(approval.message, 200)}”</p>`;
};

const Ended = ({ approval, person, reader }) => {
  const asked = /** @type {any} */ (askedOf(approval));
  const sign = signOf({ row: { ...asked, metadata: {} }, result: null, asked });
  const label = html`<strong>${oneLine(approval.name, 80)}</strong> · ${endWords(asked, person, reader)}`;
  return html`<${Fold} isStep isOpen=${isEdited(asked)} sign=${sign} label=${label}>
    <${AskedFor} approval=${approval} person=${person} reader=${reader} /><${Asked} asked=${asked} reader=${reader} /><//>`;
};

const Ways = ({ next }) => {
  const { everyone, cursors } = place.value;
  const go = (to) => () => (place.value = { everyone, cursors: to });
  return html`<nav class="cq-line cq-ways" aria-label="Pages">
    ${cursors.length > 0 && html`<button type="button" class="cq-button" onClick=${go(cursors.slice(0, -1))}>${icon("chevron_left")} Older</button>`}
    ${next !== null && html`<button type="button" class="cq-button" onClick=${go([...cursors, next])}>Newer ${icon("chevron_right")}</button>`}
  </nav>`;
};

/** The page that `place` names, read again every few seconds. */
const usePage = () => {
  const [page, keep] = useState(/** @type {any} */ (null));
  const [problem, tell] = useState(/** @type {Problem | null} */ (null));
  const wanted = useRef(0);
  const { everyone, cursors } = place.value;
  const look = async (isUnattended = false) => {
    const number = ++wanted.current;
    const params = { limit: PAGE_ROWS, cursor: cursors.at(-1), scope: everyone ? "all" : undefined };
    try {
      const found = await read("approvals", params, { isUnattended });
      if (number !== wanted.current) return;
      keep(found);
      tell(null);
    } catch (failure) {
      if (!(failure instanceof Problem)) throw failure;
      if (number === wanted.current) tell(failure);
    }
  };
  useEffect(() => {
    look();
    return keepLooking(() => look(true));
  }, [everyone, cursors]);
  return { page, problem, look };
};

/** @param {{reader: Reader, person: string, mayReview: boolean}} given */
export const Inbox = ({ reader, person, mayReview }) => {
  const { page, problem, look } = usePage();
  const items = page?.items ?? [];
  const decided = async (approval) => {
    if (approval && approval.status !== "pending") ended.value = [...ended.value.filter(({ id }) => id !== approval.id), approval];
    await Promise.all([look(), app.askServer()]); // the sidebar says how many are left
  };
  const desk = { reader, mayDecide: true, decided };
  const shown = ended.value.filter(({ id }) => !items.some((one) => one.id === id)).slice(-ENDED_ROWS);
  return html`
    <section class="cq cq-inbox" aria-label="Calls that wait" aria-busy=${String(!page)}>
      ${mayReview && html`<label class="cq-check"><input type="checkbox" role="switch" checked=${place.value.everyone}
        onChange=${({ currentTarget }) => (place.value = { everyone: currentTarget.checked, cursors: [] })} /> Include other people's sessions</label>`}
      <${Refusal} problem=${problem} />
      ${shown.map((approval) => html`<${Ended} key=${approval.id} approval=${approval} person=${person} reader=${reader} />`)}
      ${items.map((approval) => html`<div key=${approval.id}>
        <${AskedFor} approval=${approval} person=${person} reader=${reader} /><${Waiting} asked=${askedOf(approval)} desk=${desk} />
      </div>`)}
      ${page && !items.length && html`<p>Nothing is waiting for a decision.</p><p class="cq-small">When an agent asks for approval, its request appears here.</p>`}
      ${page && html`<${Ways} next=${page.next_cursor} />`}
    </section>`;
};
