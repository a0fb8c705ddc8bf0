// Deleted sessions leave the list immediately. The server deletes them some seconds later, whatever
// becomes of this tab; until then the latest deletion can be undone here.
import { ask, openId } from "./acts.js";
import { make, makeButton, setText } from "./elements.js";
import { draw, focusRow, leaveRows, list } from "./list.js";
import { selection } from "./selection.js";

const deletion = { ids: [], reopens: null, timer: null };
let returning = null; // the row that gets the focus once it is back

export function deleteSessions(ids) {
  forgetDeletion(); // an earlier one, which can no longer be undone here
  const open = openId();
  deletion.ids = ids;
  deletion.reopens = ids.includes(open) ? open : null;
  deletion.timer = setTimeout(end, list.data.limits.undo_seconds * 1_000);
  for (const id of ids) selection.ids.delete(id);
  leaveRows(ids);
  ask("delete", { ids });
  if (deletion.reopens) ask("new");
}

function end() {
  forgetDeletion();
  draw();
}

function undoDeletion() {
  const { ids, reopens } = deletion;
  forgetDeletion();
  ask("undelete", { ids });
  if (reopens) ask("open", { ids: [reopens] });
  returning = ids[0];
}

function forgetDeletion() {
  clearTimeout(deletion.timer);
  Object.assign(deletion, { ids: [], reopens: null, timer: null });
}

export function makeDeletionBar(bar) {
  const undo = makeButton("act", "Undo");
  undo.addEventListener("click", undoDeletion);
  bar.replaceChildren(make("span", "count"), undo);
}

export function drawDeletion() {
  const count = deletion.ids.length;
  const words = count ? `Deleting ${count === 1 ? "1 session" : `${count} sessions`} …` : "";
  list.deletionBar.hidden = !count;
  setText(list.deletionBar.firstElementChild, words);
  setText(list.announced, words && `${words} It can be undone.`);
  if (!returning || !list.items.has(returning)) return;
  if (document.activeElement === document.body) focusRow(returning);
  returning = null;
}
