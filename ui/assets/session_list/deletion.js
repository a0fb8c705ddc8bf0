// Deleted sessions leave the list immediately and are deleted some seconds later, unless this is
// undone. Closing the page within these seconds deletes nothing.
import { ask, openId } from "./acts.js";
import { make, makeButton, setText } from "./elements.js";
import { draw, focusRow, leaveRows, list } from "./list.js";
import { selection } from "./selection.js";

export const deletion = { ids: [], reopens: null, timer: null };

export function deleteLater(ids) {
  deleteNow(); // an earlier deletion that is still pending
  const open = openId();
  deletion.ids = ids;
  deletion.reopens = ids.includes(open) ? open : null;
  deletion.timer = setTimeout(deleteNow, list.data.limits.undo_seconds * 1_000);
  for (const id of ids) selection.ids.delete(id);
  leaveRows(ids);
  if (deletion.reopens) ask("new");
  else draw();
}

function deleteNow() {
  const ids = forgetDeletion();
  if (ids.length) ask("delete", { ids });
}

function undoDeletion() {
  const { reopens } = deletion;
  const [first] = forgetDeletion();
  if (reopens) ask("open", { ids: [reopens] });
  else draw();
  focusRow(first);
}

function forgetDeletion() {
  const { ids } = deletion;
  clearTimeout(deletion.timer);
  Object.assign(deletion, { ids: [], reopens: null, timer: null });
  return ids;
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
}
