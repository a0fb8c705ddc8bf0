// A conversation as a reader sees it: its head, a window of its history, and the way to other parts.
import { answerOf, toGroups } from "../blocks.js";
import { oneLine } from "../formats.js";
import { html, icon, useEffect, useLayoutEffect, useMemo, useRef } from "../html.js";
import { Place } from "../place.js";
import { FIRST, LATEST, earlier, isLatest, later } from "../windows.js";
import { Message } from "./message.js";

const Head = ({ session: { title, domain, owner } }) => html`
  <header class="cq-head">
    <h1><strong>${oneLine(title || "New chat")}</strong> <span class="cq-small">${oneLine(domain, 60)}</span></h1>
    <span class="cq-badge">${icon("link")} Read only · ${oneLine(owner, 60)}</span>
  </header>`;

const Closed = ({ problem }) => html`
  <div class="cq-info" role="status">${icon("link_off")}<div><strong>${oneLine(problem.title)}.</strong> ${oneLine(problem.detail, 600)}</div></div>`;

const Way = ({ sign, label, go }) => html`
  <button type="button" class="colloquy-text-button" onClick=${go}>${icon(sign)} ${label}</button>`;

/** The groups with a name where it is needed, and the last answer of each turn marked. */
const History = ({ items, conversation }) => {
  const groups = useMemo(() => toGroups(items), [items]);
  const isNamed = new Set(items.map(({ agent }) => agent).filter(Boolean)).size > 1;
  const last = new Set(new Map(groups.flatMap((group) => {
    const answer = answerOf(group);
    return answer ? [[answer.turn_id ?? answer.id, answer.id]] : [];
  })).values());
  return groups.map((group) => html`
    <div key=${group.blocks[0].row.id} data-id=${group.blocks[0].row.id}>
      <${Message} group=${group} conversation=${conversation} name=${isNamed ? group.agent : null}
        isLast=${last.has(answerOf(group)?.id)} />
    </div>`);
};

/** @param {{conversation: import("../store.js").Conversation}} given */
export const Reading = ({ conversation }) => {
  const root = useRef(null);
  const place = useRef(null);
  const { session, page, window: shown, closed, problem } = conversation;
  const items = page.value?.items;
  useEffect(() => {
    place.current = new Place(root.current);
    return () => place.current.close();
  }, []);
  const isOpened = useRef(false);
  useLayoutEffect(() => {
    if (!items) return;
    place.current ??= new Place(root.current);
    if (!isOpened.current && page.value.next_before !== null) place.current.toEnd();
    else place.current.restore();
    isOpened.current = true;
  }, [items]);
  const go = (side, window) => () => {
    place.current.isAtEnd = false;
    if (side) place.current.hold(side);
    return conversation.move(window);
  };
  const toLatest = () => conversation.move(LATEST).then(() => requestAnimationFrame(() => place.current.toEnd()));
  const toFirst = () => conversation.move(FIRST).then(() => requestAnimationFrame(() => root.current?.scrollIntoView()));
  if (closed.value) return html`<section class="cq" ref=${root}><${Closed} problem=${closed.value} /></section>`;
  return html`
    <section class="cq" ref=${root} aria-label="Conversation" aria-busy=${String(!items)}>
      ${session.value && html`<${Head} session=${session.value} />`}
      ${problem.value && html`<p class="cq-small" role="alert">${icon("warning")} ${problem.value.message}</p>`}
      ${items && !items.length && html`<p class="cq-small">This session has no messages yet.</p>`}
      ${items && page.value.next_before !== null && html`<nav class="cq-line cq-ways" aria-label="Earlier messages">
        <${Way} sign="keyboard_double_arrow_up" label="Jump to the first" go=${toFirst} />
        <${Way} sign="expand_less" label="Show earlier messages" go=${go("first", earlier(shown.value, page.value))} />
      </nav>`}
      ${items && html`<${History} items=${items} conversation=${conversation} />`}
      ${items && !isLatest(shown.value) && html`<nav class="cq-line cq-ways" aria-label="Later messages">
        ${page.value.next_after !== null && items.length > 0 && html`
          <${Way} sign="expand_more" label="Show later messages" go=${go("last", later(page.value))} />`}
        <${Way} sign="keyboard_double_arrow_down" label="Jump to the latest" go=${toLatest} />
      </nav>`}
    </section>`;
};
