// The head of an open session: its title, whose it is, what may be done here, and its other pages.
import { Refusal, useAct } from "../acting.js";
import { change, read } from "../api.js";
import { oneLine } from "../formats.js";
import { host } from "../host.js";
import { html, icon, useEffect, useState } from "../html.js";
import { ownerOf, titleOf, whose } from "../list/rules.js";
import { Exports } from "./exports.js";
import { Rename } from "./list/row.js";
import { Popover } from "./popover.js";
import { Share } from "./share.js";
import { ToPage } from "./to_page.js";
import { Usage } from "./usage.js";
/** @import { Conversation } from "../store.js" */

const REVIEWING = "This is somebody else's session. Its owner sees that you read it, and why.";
const DEMO_HELP = "The answers come from the bundled demo model, which knows a few example questions only. "
  + "To connect a real one, open Models under Administration, or set OPENAI_API_KEY (and OPENAI_BASE_URL for a "
  + "provider other than OpenAI) in .env and restart.";

const Badge = ({ sign = "", words, tip = undefined, color = "" }) => html`
  <span class=${`cq-badge ${color}`} title=${tip}>${sign && icon(sign)} ${words}</span>`;

/** Who read this session as a reviewer, when and why: to its owner. */
const Reviews = ({ conversation }) => {
  const { reader, path } = conversation;
  const count = conversation.session.value.review_count;
  const [reviews, tell] = useState(null);
  const { act, problem } = useAct(async () => tell((await read(`${path}/reviews`)).items));
  useEffect(() => void act(), [path, count]);
  const day = (text) => reader.dayAndTime(text);
  return html`
    <${Refusal} problem=${problem} />
    ${reviews?.map(({ id, reviewer_name, begun_at, reason }) => html`
      <p key=${id}>Viewed by <strong>${oneLine(reviewer_name, 80)}</strong> on ${day(begun_at)}
        ${reason && html`<br /><span class="cq-small">${oneLine(reason, 500)}</span>`}</p>`)}
    ${reviews?.length < count && html`<p class="cq-small">The latest ${reader.number(reviews.length)} are shown.</p>`}`;
};

const Review = ({ conversation }) => {
  const { reader } = conversation;
  const { review_ends_at, review_count, rights } = conversation.session.value;
  if (review_ends_at) return html`<${Badge} sign="visibility" words=${`In review until ${reader.moment(review_ends_at)}`} tip=${REVIEWING} color="cq-orange" />`;
  if (!review_count || rights !== "own") return null;
  const label = review_count === 1 ? "Viewed once" : `Viewed ${reader.number(review_count)} times`;
  return html`
    <${Popover} sign="visibility" label=${label} isIcon=${false} tip="Who read this session as a reviewer, when and why">
      ${() => html`<${Reviews} conversation=${conversation} />`}<//>`;
};

/** Whether the session is archived, whose it is, and whether it can only be read here. */
const Badges = ({ conversation, server, open }) => {
  const session = conversation.session.value;
  const { readsOnly } = conversation;
  const isReadOnly = readsOnly || session.rights === "read";
  const words = readsOnly ? "" : whose(session);
  const isMine = session.owner === conversation.person && session.parent_id === null;
  const write = (event) => {
    event.preventDefault();
    open(session.id);
  };
  return html`
    ${session.archived && html`<${Badge} sign="archive" words="Archived" />`}
    <${Review} conversation=${conversation} />
    ${words && html`<${Badge} sign="group" words=${oneLine(words, 80)} />`}
    ${isReadOnly && html`<${Badge} words=${`Read only · ${oneLine(ownerOf(session), 60)}`} />`}
    ${isReadOnly && isMine && html`
      <a class="cq-plain" href=${`/?session=${session.id}`} title="This session is yours" onClick=${write}>${icon("edit")} Write here</a>`}
    ${!session.models?.length && server?.is_demo_model && html`<${Badge} sign="science" words="Demo model" tip=${DEMO_HELP} color="cq-orange" />`}
    ${!session.models?.length && server?.model && !server.is_demo_model && html`<${Badge} sign="bolt" words=${oneLine(server.model, 60)} />`}`;
};

/** The title, which may be edited in its place. */
const Title = ({ conversation, isOwn }) => {
  const { id, title, domain } = conversation.session.value;
  const [isEdited, edits] = useState(false);
  const { act, problem } = useAct(async (words) => {
    conversation.session.value = await change("PATCH", `sessions/${id}`, { title: words });
  });
  const done = (words) => {
    edits(false);
    if (words) act(words);
  };
  if (isEdited) return html`<div class="cq-title"><${Rename} title=${title} done=${done} /></div>`;
  return html`
    <h1 class="cq-title">
      <strong dir="auto" title=${titleOf({ title })}>${titleOf({ title })}</strong> <span class="cq-small">${oneLine(domain, 60)}</span>
      ${isOwn && html`<button type="button" class="cq-plain cq-pale" aria-label="Rename this session" title="Rename this session"
        onClick=${() => edits(true)}>${icon("edit")}</button>`}
      <${Refusal} problem=${problem} />
    </h1>`;
};

/**
 * @param {{conversation: Conversation, server: {value: any}, open: (id: string) => void}} given `open`: the
 * session itself, to write in it
 */
export const Header = ({ conversation, server, open }) => {
  const session = conversation.session.value;
  if (!session) return null;
  const { readsOnly } = conversation;
  const isOwn = session.rights === "own" && !readsOnly;
  const query = { session: session.id, ...(readsOnly ? { view: "read" } : {}) };
  return html`
    <header class="cq-session-head">
      <${Title} key=${session.id} conversation=${conversation} isOwn=${isOwn} />
      <div class="cq-line cq-head-side">
        <${Badges} conversation=${conversation} server=${server.value} open=${open} />
        <span class="cq-icons">
          <${Usage} conversation=${conversation} />
          ${session.message_count > 0 && html`<${Exports} conversation=${conversation} />`}
          ${isOwn && html`<${Share} conversation=${conversation} server=${server.value} />`}
          <button type="button" class="cq-plain" aria-label="Artifacts" onClick=${() => host.panel({ kind: "artifacts", session: session.id })}
            title="Artifacts: tables, charts and documents of this session, with their versions">${icon("dataset")}</button>
          <${ToPage} page="search" query=${query} sign="search" label="Search in this session" />
          <${ToPage} page="configuration" query=${query} sign="tune" label="Configuration"
            tip="The session's configuration, and how its domain has changed since" />
          <${ToPage} page="inspector" query=${query} sign="troubleshoot" label="Inspector"
            tip="What the model reads next, and what it was sent so far" />
        </span>
      </div>
    </header>`;
};
