// The menu of a row, and the confirmation of a deletion: one popover for the whole list.
import { ask, isPinned, titleOf } from "./acts.js";
import { deleteSessions } from "./deletion.js";
import { make, makeButton, setAttribute } from "./elements.js";
import { leaveRows, list, rowOf, setCurrent } from "./list.js";
import { startRename } from "./rename.js";
import { toggle } from "./selection.js";

export const menu = { id: null, anchor: null };

function choicesFor(row) {
  const ids = [row.id];
  if (!row.own) return [["verified_user", "Allowed tools", () => ask("allowed", { ids })]];
  return [
    ["edit", "Rename", () => startRename(row.id)],
    isPinned(row)
      ? ["keep_off", "Unpin", () => ask("unpin", { ids })]
      : ["keep", "Pin", () => ask("pin", { ids })],
    [...putAwayWords(), () => putAway(ids)],
    ["verified_user", "Allowed tools", () => ask("allowed", { ids })],
    ["restart_alt", "Clear", () => ask("clear", { ids })],
    ["check_box", "Select", () => toggle(row.id)],
    ["delete", "Delete", () => askToDelete(ids, anchorOf(row.id))],
  ];
}

export function putAwayWords() {
  return list.data.archived ? ["unarchive", "Restore"] : ["archive", "Archive"];
}

export function putAway(ids) {
  leaveRows(ids);
  ask(list.data.archived ? "restore" : "archive", { ids });
}

export function anchorOf(id) {
  return list.items.get(id)?.querySelector(".more");
}

export function openMenu(id) {
  const row = rowOf(id);
  const buttons = choicesFor(row).map(([icon, name, act]) => {
    const button = makeButton("choice", name, { role: "menuitem", "data-icon": icon });
    button.addEventListener("click", () => {
      closeMenu();
      act();
    });
    return button;
  });
  setCurrent(id);
  showInMenu("menu", `Actions for ${titleOf(row)}`, buttons, anchorOf(id));
  menu.id = id;
}

export function askToDelete(ids, anchor) {
  const what = ids.length === 1 ? `“${titleOf(rowOf(ids[0]))}”` : `${ids.length} sessions`;
  const keep = makeButton("choice", "Keep");
  const remove = makeButton("choice danger", "Delete");
  keep.addEventListener("click", closeMenu);
  remove.addEventListener("click", () => {
    closeMenu();
    deleteSessions(ids);
  });
  const answers = make("div", "answers");
  answers.append(keep, remove);
  const words = `All messages and files are permanently deleted after ${list.data.limits.undo_seconds} seconds. `
    + "A running turn is stopped first.";
  const question = [make("p", "asked", `Delete ${what}?`), make("p", "words", words), answers];
  showInMenu("alertdialog", `Delete ${what}?`, question, anchor);
  menu.id = ids.length === 1 ? ids[0] : null;
}

function showInMenu(role, name, children, anchor) {
  const box = list.menu;
  setAttribute(box, "role", role);
  setAttribute(box, "aria-label", name);
  box.replaceChildren(...children);
  if (!box.matches(":popover-open")) box.showPopover();
  menu.anchor = anchor;
  setAttribute(anchor, "aria-expanded", "true");
  placeMenu(box, anchor.getBoundingClientRect());
  box.querySelector("button").focus();
}

// Below its anchor, or above where there is no room below; never beyond the window.
function placeMenu(box, beside) {
  const { offsetWidth: width, offsetHeight: height } = box;
  const below = beside.bottom + height <= window.innerHeight;
  const top = below ? beside.bottom : beside.top - height;
  const left = Math.min(beside.left, window.innerWidth - width);
  box.style.top = `${Math.max(0, top)}px`;
  box.style.left = `${Math.max(0, left)}px`;
}

export function closeMenu() {
  if (list.menu.matches(":popover-open")) list.menu.hidePopover();
}

export function menuHasClosed({ newState }) {
  if (newState !== "closed") return;
  if (menu.anchor) setAttribute(menu.anchor, "aria-expanded", null);
  menu.id = menu.anchor = null;
}

export function moveInMenu(event) {
  const buttons = [...list.menu.querySelectorAll("button")];
  const place = buttons.indexOf(document.activeElement);
  const to = {
    ArrowDown: (place + 1) % buttons.length,
    ArrowUp: (place - 1 + buttons.length) % buttons.length,
    Home: 0,
    End: buttons.length - 1,
  }[event.key];
  if (event.key === "Tab" && list.menu.role === "menu") closeMenu();
  if (to === undefined) return;
  event.preventDefault();
  buttons[to].focus();
}
