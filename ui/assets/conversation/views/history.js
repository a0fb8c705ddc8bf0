// A window of a history: speakers with their messages, and the way to other parts of it.
import { answerOf, toGroups } from "../blocks.js";
import { html, icon, useEffect, useLayoutEffect, useMemo, useRef } from "../html.js";
import { Place } from "../place.js";
import { FIRST, LATEST, earlier, isLatest, later } from "../windows.js";
import { speakersOf } from "./acts/speaker.js";
import { Message } from "./message.js";
/** @import { Conversation } from "../store.js" */

const Way = ({ sign, label, go }) => html`
  <button type="button" class="colloquy-text-button" onClick=${go}>${icon(sign)} ${label}</button>`;

/** What a group is drawn from: while it is the same, so is the drawing. */
const partsOf = ({ blocks }, ...more) => [...blocks.flatMap(({ row, result, asked }) => [row, result, asked]), ...more];
const isSame = (one, other) => one.length === other.length && one.every((part, n) => part === other[n]);

/** The groups with a name where it is needed, and the last answer of each turn marked. A group in which
 * nothing has changed is not drawn again: a long history costs nothing while an answer streams. */
const Groups = ({ items, conversation }) => {
  const drawn = useRef(new Map());
  const groups = useMemo(() => toGroups(items), [items]);
  const { isNamed, routes } = speakersOf(groups, conversation);
  const last = new Set(new Map(groups.flatMap((group) => {
    const answer = answerOf(group);
    return answer ? [[answer.turn_id ?? answer.id, answer.id]] : [];
  })).values());
  const before = drawn.current;
  drawn.current = new Map();
  return groups.map((group) => {
    const { id } = group.blocks[0].row;
    const isLast = last.has(answerOf(group)?.id);
    const route = routes.get(id);
    const parts = partsOf(group, isNamed, isLast, route);
    const known = before.get(id);
    const node = known && isSame(known.parts, parts) ? known.node : html`
      <div key=${id} data-id=${id}>
        <${Message} group=${group} conversation=${conversation} name=${isNamed ? group.agent : null} route=${route} isLast=${isLast} />
      </div>`;
    drawn.current.set(id, { parts, node });
    return node;
  });
};

/**
 * The element in which a conversation is read, and the reader's place in it: at its end as it is opened,
 * or at the message that the address names.
 * @param {Conversation} conversation @returns {{root: any, place: {current: Place | null}}}
 */
export const usePlace = (conversation) => {
  const root = useRef(null);
  const place = useRef(/** @type {Place | null} */ (null));
  const isOpened = useRef(false);
  const { page, marked } = conversation;
  const items = page.value?.items;
  useEffect(() => {
    place.current ??= new Place(root.current);
    return () => {
      place.current.close();
      place.current = null;
    };
  }, []);
  useLayoutEffect(() => {
    if (!items) return;
    place.current ??= new Place(root.current);
    if (isOpened.current) place.current.restore();
    else if (!marked.value) place.current.toEnd();
    isOpened.current = true;
  }, [items]);
  useLayoutEffect(() => {
    if (marked.value?.row) place.current?.to(marked.value.row);
  }, [marked.value]);
  const said = conversation.sent.value.findLast(({ turn }) => turn === null)?.key;
  useLayoutEffect(() => {
    if (said) place.current?.toEnd(); // own words are in sight, wherever one was reading
  }, [said]);
  return { root, place };
};

/** @param {{conversation: Conversation, place: {current: Place | null}}} given */
export const History = ({ conversation, place }) => {
  const { page, window: shown, items: all } = conversation;
  const items = all.value; // of a new chat, what was just said
  if (!page.value && !items.length) return null;
  const go = (side, window) => () => {
    place.current.hold(side);
    return conversation.move(window);
  };
  const toLatest = () => conversation.move(LATEST).then(() => requestAnimationFrame(() => place.current?.toEnd()));
  const toFirst = () => conversation.move(FIRST).then(() => requestAnimationFrame(() => place.current?.toTop()));
  return html`
    ${(page.value?.next_before ?? null) !== null && html`<nav class="cq-line cq-ways" aria-label="Earlier messages">
      <${Way} sign="keyboard_double_arrow_up" label="Jump to the first" go=${toFirst} />
      <${Way} sign="expand_less" label="Show earlier messages" go=${go("first", earlier(shown.value, page.value))} />
    </nav>`}
    <${Groups} items=${items} conversation=${conversation} />
    ${!isLatest(shown.value) && html`<nav class="cq-line cq-ways" aria-label="Later messages">
      ${page.value?.next_after !== null && items.length > 0 && html`
        <${Way} sign="expand_more" label="Show later messages" go=${go("last", later(page.value))} />`}
      <${Way} sign="keyboard_double_arrow_down" label="Jump to the latest" go=${toLatest} />
    </nav>`}`;
};
