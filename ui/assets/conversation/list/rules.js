// What the session list shows of sessions, and of what a person has just chosen. Pure.
import { oneLine } from "../formats.js";
/** @import { Act, Session } from "./types.js" */

export const NEW_TITLE = "New chat";
export const MARKS = {
  running: "running",
  queued: "queued",
  waiting: "waits for approval",
  failed: "failed",
  unread: "has a new answer",
};
const DAY_MS = 86_400_000;
const SPANS = /** @type {[number, string][]} */ ([[0, "Today"], [1, "Yesterday"], [7, "Previous 7 days"], [30, "Previous 30 days"]]);

/** @param {{title?: string}} session */
export const titleOf = ({ title }) => oneLine(title, Infinity) || NEW_TITLE;

/** @param {Session} session */
export const ownerOf = ({ owner, owner_name }) => oneLine(owner_name || owner, Infinity);

/** The team that a session belongs to, or who shares it; empty for one's own. @param {Session} session */
export const whose = (session) => {
  if (session.review_ends_at) return "";
  if (session.team) return `Team ${oneLine(session.team_name || session.team, Infinity)}`;
  return session.rights === "own" ? "" : `Shared by ${ownerOf(session)}`;
};

/**
 * The mark before the title: a status, failed, unread, or empty.
 * @param {Session} session @param {{unread: Set<string>, hasWorker: boolean}} known
 */
export const markOf = ({ id, status, has_failed, waits_for }, { unread, hasWorker }) => {
  if (status === "idle") return has_failed ? "failed" : unread.has(id) ? "unread" : "";
  if (status === "queued" && hasWorker) return "running"; // it waits only for a moment
  if (status === "waiting" && waits_for !== "people") return "running"; // its tasks run, or it continues in a moment
  return status;
};

/** @type {WeakMap<Session, {day: string, name: string}>} */
const named = new WeakMap(); // a thousand dates take their time

/** @param {Session} session @param {Date} now @param {string} day */
const groupOf = (session, now, day) => {
  if (session.pinned) return "Pinned";
  const known = named.get(session);
  if (known?.day === day) return known.name;
  const name = dayGroup(new Date(session.updated_at), now);
  named.set(session, { day, name });
  return name;
};

/** Today, Yesterday, Previous 7 days, Previous 30 days, or the month. @param {Date} when @param {Date} now */
const dayGroup = (when, now) => {
  const startOf = (day) => Date.UTC(day.getFullYear(), day.getMonth(), day.getDate());
  const days = (startOf(now) - startOf(when)) / DAY_MS;
  const [, name] = SPANS.find(([most]) => days <= most) ?? [];
  if (name) return name;
  const year = when.getFullYear() === now.getFullYear() ? undefined : "numeric";
  return when.toLocaleDateString("en", { month: "long", year: /** @type {"numeric"} */ (year) });
};

/**
 * The sessions by group, in the order of their first sessions; pinned ones first.
 * @param {Session[]} sessions @param {Date} [now] @returns {[string, Session[]][]}
 */
export const groupsOf = (sessions, now = new Date()) => {
  const day = now.toDateString();
  const groups = new Map([["Pinned", /** @type {Session[]} */ ([])]]);
  for (const session of sessions) {
    const name = groupOf(session, now, day);
    if (!groups.has(name)) groups.set(name, []);
    groups.get(name).push(session);
  }
  return [...groups].filter(([, found]) => found.length);
};

const LEAVES = ["archive", "restore", "delete"];
const MADE = {
  rename: ({ title }) => ({ title }),
  pin: () => ({ pinned: true }),
  unpin: () => ({ pinned: false }),
};

/**
 * The sessions as they are once the acts under way are done; pinned ones first, the rest by their last use.
 * @param {Session[]} sessions @param {Act[]} acts
 */
export const withActs = (sessions, acts) => {
  const changed = new Map();
  const gone = new Set();
  for (const act of acts) {
    for (const id of act.ids) {
      if (LEAVES.includes(act.do)) gone.add(id);
      else if (act.do === "undelete") gone.delete(id);
      else if (MADE[act.do]) changed.set(id, { ...changed.get(id), ...MADE[act.do](act) });
    }
  }
  const shown = sessions.filter(({ id }) => !gone.has(id))
    .map((session) => (changed.has(session.id) ? { ...session, ...changed.get(session.id) } : session));
  return newestFirst(shown);
};

/** Without repeats: the first one of the same id counts. @param {Session[]} sessions */
export const newestFirst = (sessions) => {
  const kept = new Map();
  for (const session of sessions) if (!kept.has(session.id)) kept.set(session.id, session);
  const order = (one, other) =>
    Number(other.pinned) - Number(one.pinned) || (one.updated_at < other.updated_at ? 1 : one.updated_at > other.updated_at ? -1 : 0);
  return [...kept.values()].sort(order);
};

/**
 * The loaded sessions with the latest page as it is now: it decides as far as it reaches, and what was
 * loaded beyond it stays; also which cursor leads on.
 * @param {{items: Session[], cursor: string | null}} loaded @param {{items: Session[], next_cursor: string | null}} page
 */
export const merged = (loaded, page) => {
  const last = page.next_cursor === null ? null : page.items.at(-1)?.updated_at;
  const fresh = new Set(page.items.map(({ id }) => id));
  const beyond = last ? loaded.items.filter(({ id, updated_at }) => updated_at < last && !fresh.has(id)) : [];
  return { items: [...page.items, ...beyond], cursor: beyond.length ? loaded.cursor : page.next_cursor };
};

/**
 * The sessions from one to another, as a press with Shift selects them.
 * @param {string[]} order @param {string} from @param {string} to
 */
export const between = (order, from, to) => {
  const places = [order.indexOf(from), order.indexOf(to)].map((place) => Math.max(0, place));
  return order.slice(Math.min(...places), Math.max(...places) + 1);
};

/** The row that gets the focus when these leave the list. @param {string[]} order @param {string[]} ids */
export const heirOf = (order, ids) => {
  const place = order.indexOf(ids[0]);
  const stays = (id) => !ids.includes(id);
  return order.slice(place).find(stays) ?? order.slice(0, place).findLast(stays);
};
