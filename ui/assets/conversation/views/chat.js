// The chat page: the open conversation with what is said, what streams, and where people write.
import { newKey } from "../api.js";
import { oneLine } from "../formats.js";
import { leaveComposer } from "../composer/composer.js";
import { html, icon, useEffect } from "../html.js";
import { tab } from "../title.js";
import { Waits } from "./acts/approvals.js";
import { NewChatLink, usePanel } from "./acts/links.js";
import { TaskStreams } from "./acts/streams.js";
import { Parent } from "./acts/task.js";
import { WhereItIs } from "./acts/where.js";
import { History, usePlace } from "./history.js";
import { Cleared, Offers, Queue } from "./composer/below.js";
import { Composer } from "./composer/composer.js";
import { Opening } from "./composer/opening.js";
import { Header } from "./header.js";
import { Away, Review, ServiceState } from "./notices.js";
import { Status } from "./status.js";
/** @import { Conversation } from "../store.js" */

const REASON_NEEDED = 403;
const keys = new WeakMap();
/** A name of a conversation that stays when a new chat becomes a session. @param {Conversation} conversation */
const keyOf = (conversation) => {
  if (!keys.has(conversation)) keys.set(conversation, newKey());
  return keys.get(conversation);
};

/** It cannot be read: why, and the way out. */
const Closed = ({ problem, conversation }) => {
  useEffect(() => {
    if (problem.status !== REASON_NEEDED) leaveComposer(conversation.id);
  }, [problem]);
  return html`
  ${problem.status === REASON_NEEDED
    ? html`<${Review} problem=${problem} id=${conversation.id} begun=${() => conversation.again()} />`
    : html`<div class="cq-error" role="alert">${icon("error")}<div><strong>${oneLine(problem.title)}.</strong> ${oneLine(problem.detail, 2000)}</div></div>`}
  <${NewChatLink}>${icon("edit_square")} Start a new chat<//>`;
};

const Open = ({ conversation, app }) => {
  const { session, page, closed, problem } = conversation;
  const { root, place } = usePlace(conversation);
  const title = session.value ? `${session.value.title || "New chat"} · Colloquy` : "Colloquy";
  const links = usePanel(conversation);
  useEffect(() => tab.name(title), [title]);
  if (closed.value) return html`<section class="cq" ref=${root}><${Closed} problem=${closed.value} conversation=${conversation} /></section>`;
  const isRead = (conversation.path === null || page.value) && !app.opening.value;
  return html`
    <section class="cq cq-chat" ref=${root} aria-label="Conversation" ...${links} aria-busy=${String(!isRead)}>
      <${Header} conversation=${conversation} server=${app.server} open=${(id) => app.open(id)} />
      ${conversation.path === null && html`<${Opening} app=${app} conversation=${conversation} />`}
      <${Parent} conversation=${conversation} />
      <${WhereItIs} conversation=${conversation} />
      <${History} conversation=${conversation} place=${place} />
      <${Cleared} conversation=${conversation} />
      <${ServiceState} app=${app} />
      <${TaskStreams} conversation=${conversation} />
      <${Waits} conversation=${conversation} />
      <${Status} conversation=${conversation} />
      <${Offers} conversation=${conversation} />
      <${Queue} conversation=${conversation} />
      ${!conversation.may.value.ask && html`<${Away} problem=${problem.value} />`}
      <${Composer} app=${app} conversation=${conversation} />
    </section>`;
};

/** @param {{app: typeof import("../app.js").app}} given */
export const Chat = ({ app }) => {
  const conversation = app.conversation.value;
  return conversation && html`<${Open} key=${keyOf(conversation)} conversation=${conversation} app=${app} />`;
};
