// A conversation as a reader of its link sees it: its head, and a window of its history.
import { oneLine } from "../formats.js";
import { html, icon } from "../html.js";
import { History, usePlace } from "./history.js";

const Head = ({ session: { title, domain, owner } }) => html`
  <header class="cq-head">
    <h1><strong>${oneLine(title || "New chat")}</strong> <span class="cq-small">${oneLine(domain, 60)}</span></h1>
    <span class="cq-badge">${icon("link")} Read only · ${oneLine(owner, 60)}</span>
  </header>`;

const Closed = ({ problem }) => html`
  <div class="cq-info" role="status">${icon("link_off")}<div><strong>${oneLine(problem.title)}.</strong> ${oneLine(problem.detail, 600)}</div></div>`;

/** @param {{conversation: import("../store.js").Conversation}} given */
export const Reading = ({ conversation }) => {
  const { session, page, closed, problem } = conversation;
  const { root, place } = usePlace(conversation);
  if (closed.value) return html`<section class="cq" ref=${root}><${Closed} problem=${closed.value} /></section>`;
  return html`
    <section class="cq" ref=${root} aria-label="Conversation" aria-busy=${String(!page.value)}>
      ${session.value && html`<${Head} session=${session.value} />`}
      ${problem.value && html`<p class="cq-small" role="alert">${icon("warning")} ${problem.value.message}</p>`}
      ${page.value && !page.value.items.length && html`<p class="cq-small">This session has no messages yet.</p>`}
      <${History} conversation=${conversation} place=${place} />
    </section>`;
};
