// How the window of a history moves, and where it is cut: at whole turns, within limits. Pure.
/** @import { DisplayMessage, MessagePage, Window } from "./types.js" */

export const PAGE_ROWS = 50;
export const WINDOW_ROWS = 150;
const MOST_CUT = PAGE_ROWS / 2; // longer turns are cut, so that a page always has something to show
const MOST_KEPT = WINDOW_ROWS - PAGE_ROWS;

/** @type {Window} */
export const LATEST = { limit: PAGE_ROWS };
/** @type {Window} */
export const FIRST = { limit: PAGE_ROWS, after: 0 };

/** @param {Window} window */
export const isLatest = (window) => window.before === undefined && window.after === undefined;

/** @param {DisplayMessage[]} items @param {number} from @param {number} to */
const starts = (items, from, to) => {
  const found = [];
  for (let place = Math.max(0, from); place < Math.min(to, items.length); place += 1) {
    if (items[place].message_type === "user") found.push(place);
  }
  return found;
};

/**
 * The page without incomplete turns at its ends, if those are short. Ends that the window names are
 * between turns already.
 * @param {MessagePage} page @param {Window} window @param {number} [keep] a position that must stay
 * @returns {MessagePage}
 */
export const cutToTurns = (page, window, keep = undefined) => {
  const { items } = page;
  let first = 0, end = items.length;
  if (page.next_before !== null && window.after === undefined) {
    first = starts(items, 0, MOST_CUT).find((n) => keep === undefined || items[n].position <= keep) ?? 0;
  }
  if (page.next_after !== null && window.before === undefined) {
    const cuts = starts(items, Math.max(first + 1, items.length - MOST_CUT), items.length);
    end = cuts.findLast((n) => keep === undefined || items[n].position > keep) ?? end;
  }
  const shown = items.slice(first, end);
  return {
    items: shown,
    next_before: first ? shown[0].position : page.next_before,
    next_after: end < items.length ? shown[shown.length - 1].position : page.next_after,
  };
};

/** How many rows to read; the first one stays while up to fifty new ones arrive.
 * @param {Window} window @param {number} count of the session's messages */
export const rowsOf = (window, count) =>
  isLatest(window) ? window.limit + (count % PAGE_ROWS) : window.limit;

/** Up to fifty earlier messages more; a full window drops its latest.
 * @param {Window} window @param {MessagePage} page @returns {Window} */
export const earlier = (window, { items }) => {
  if (isLatest(window) && window.limit < WINDOW_ROWS) return { limit: window.limit + PAGE_ROWS };
  let end = items.length;
  if (end > MOST_KEPT) end = starts(items, MOST_KEPT - MOST_CUT, MOST_KEPT + 1).at(-1) ?? MOST_KEPT;
  const before = end < items.length ? items[end].position : items[items.length - 1].position + 1;
  return { limit: end + PAGE_ROWS, before };
};

/** Up to fifty later messages more; a full window drops its earliest.
 * @param {MessagePage} page @returns {Window} */
export const later = ({ items }) => {
  let first = 0;
  if (items.length > MOST_KEPT) {
    const wanted = items.length - MOST_KEPT;
    first = starts(items, wanted, wanted + MOST_CUT)[0] ?? wanted;
  }
  return { limit: items.length - first + PAGE_ROWS, after: items[first].position - 1 };
};

/** The window that shows this page; one with the newest message follows new ones.
 * @param {MessagePage} page @param {number} count @returns {Window} */
export const around = ({ items, next_after }, count) =>
  !items.length || next_after === null ? latest(items.length, count)
    : { limit: items.length, after: items[0].position - 1 };

const PROGRESS = { pending: 0, executing: 1, completed: 2, failed: 2, stopped: 2 };

/** Whether this is an earlier state of a row that is known. @param {DisplayMessage} row @param {DisplayMessage} [known] */
export const isBehind = (row, known) => known !== undefined && PROGRESS[known.status] > PROGRESS[row.status];

/** The window of the latest messages that shows at least so many rows.
 * @param {number} rows @param {number} count @returns {Window} */
export const latest = (rows, count) => {
  const pages = Math.max(Math.ceil((rows - (count % PAGE_ROWS)) / PAGE_ROWS), 1);
  return { limit: Math.min(pages * PAGE_ROWS, WINDOW_ROWS) };
};
