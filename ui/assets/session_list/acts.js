// Sends Python the acts that a person chose. Each act has a rising number, and the list's data says
// up to which number all are done. Until then an act counts as done on the screen and is sent again,
// with every later act and after a while alone: Python does it once, however often it arrives.
import { draw, list } from "./list.js";

const FIRST_WAIT_MS = 5_000;

export const acts = {
  last: Date.now(), // higher than the number of any act before a reload
  waiting: [],
  wait: FIRST_WAIT_MS,
  timer: null,
  trigger: () => {},
};

export function ask(what, more = {}) {
  acts.waiting.push({ n: ++acts.last, do: what, ...more });
  acts.wait = FIRST_WAIT_MS;
  sendActs();
  draw();
}

// The live part of a chat requests nothing while an act is in flight.
function tellActing() {
  if (acts.waiting.length) document.body.dataset.colloquyActing = "yes";
  else delete document.body.dataset.colloquyActing;
}

export function sendActs() {
  clearTimeout(acts.timer);
  tellActing();
  if (!acts.waiting.length) return;
  acts.trigger("acts", acts.waiting);
  acts.timer = setTimeout(sendActs, acts.wait);
  acts.wait *= 2;
}

export function settleActs(done) {
  acts.waiting = acts.waiting.filter((act) => act.n > done);
  if (!acts.waiting.length) clearTimeout(acts.timer);
  tellActing();
}

// The last pending act among these, of one session if its id is given.
export function asked(names, id = null) {
  return acts.waiting.findLast(
    (act) => names.includes(act.do) && (id === null || act.ids?.includes(id)),
  );
}

export function openId() {
  const leaving = asked(["open", "new"]);
  return leaving ? (leaving.ids?.[0] ?? null) : list.data.open;
}

export function titleOf(row) {
  return asked(["rename"], row.id)?.title ?? row.title;
}

export function isPinned(row) {
  const act = asked(["pin", "unpin"], row.id);
  return act ? act.do === "pin" : row.pinned;
}

export function hasLeft(id) {
  const act = asked(["archive", "restore", "delete", "undelete"], id);
  return Boolean(act) && act.do !== "undelete";
}
