// Selecting several sessions, with Ctrl, Cmd or Shift, or "Select" in the menu: rows become
// checkboxes.
import { make, makeButton, setText } from "./elements.js";
import { draw, list, rowOf } from "./list.js";
import { askToDelete, putAway, putAwayWords } from "./menu.js";

export const selection = { ids: new Set(), anchor: null };

export function isSelecting() {
  return selection.ids.size > 0;
}

export function toggle(id) {
  if (!selection.ids.delete(id)) add([id]);
  selection.anchor = id;
  draw();
}

export function selectTo(id) {
  const from = list.order.indexOf(selection.anchor ?? list.current);
  const to = list.order.indexOf(id);
  add(list.order.slice(Math.min(from, to), Math.max(from, to) + 1));
  draw();
}

function add(ids) {
  const most = list.data.limits.selected;
  for (const id of ids) if (selection.ids.size < most && rowOf(id)?.own) selection.ids.add(id);
}

export function endSelection() {
  selection.ids.clear();
  selection.anchor = null;
  draw();
}

export function makeSelectionBar(bar) {
  const buttons = {
    away: makeButton("act", ""),
    remove: makeButton("act danger", "Delete"),
    cancel: makeButton("act", "", { "aria-label": "Cancel selection", "data-icon": "close" }),
  };
  const act = { away: putAwaySelected, remove: askAboutSelected, cancel: endSelection };
  for (const name of Object.keys(buttons)) buttons[name].addEventListener("click", act[name]);
  bar.replaceChildren(make("span", "count"), ...Object.values(buttons));
}

export function drawSelection() {
  const bar = list.selectionBar;
  const count = selection.ids.size;
  const isMost = count >= list.data.limits.selected;
  bar.hidden = !count;
  setText(bar.firstElementChild, isMost ? `${count} selected, the maximum` : `${count} selected`);
  setText(bar.children[1], putAwayWords()[1]);
}

function putAwaySelected() {
  const ids = [...selection.ids];
  selection.ids.clear();
  putAway(ids);
}

function askAboutSelected(event) {
  askToDelete([...selection.ids], event.currentTarget);
}
