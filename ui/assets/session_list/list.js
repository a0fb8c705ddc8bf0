// The session list: its state, its keys, and the function that Streamlit calls when its data
// change.
import { acts, ask, asked, hasLeft, openId, sendActs, settleActs } from "./acts.js";
import { drawDeletion, makeDeletionBar } from "./deletion.js";
import { arrange, make, makeButton, setAttribute, setText } from "./elements.js";
import {
  anchorOf, askToDelete, closeMenu, menu, menuHasClosed, moveInMenu, openMenu,
} from "./menu.js";
import { startRename } from "./rename.js";
import { drawGroup, drawOlder, reachEnd, showOlder } from "./rows.js";
import {
  drawSelection, endSelection, isSelecting, makeSelectionBar, selectTo, selection, toggle,
} from "./selection.js";

export const list = {
  data: null,
  root: null,
  items: new Map(), // rows by session
  groups: new Map(),
  order: [], // the sessions on the screen
  current: null, // the row that Tab moves to
  shownOpen: null,
  olderShown: null, // the list, and the place in it, from which "Show older" continues
  hasAskedOlder: false, // automatically, in that list and from that place
  wasLoading: false,
  isDrawing: false,
};
// What leads to another page.
const LINKS = '.st-key-new-chat, .st-key-sidebar-footer [class*="st-key-"]:not(.st-key-archived, .st-key-shortcuts)';
const NARROW = "(max-width: 768px)"; // where Streamlit's sidebar covers the page

function begin(root) {
  const part = (name) => root.querySelector(`.${name}`);
  Object.assign(list, {
    root,
    items: new Map(),
    groups: new Map(),
    rows: part("rows"),
    menu: part("menu"),
    selectionBar: part("selection"),
    deletionBar: part("deletion"),
    announced: part("announced"),
    empty: make("p", "empty"),
    older: makeButton("older", "Show older"),
    olderShown: null,
    sidebar: root.closest('[data-testid="stSidebar"]'),
  });
  makeSelectionBar(list.selectionBar);
  makeDeletionBar(list.deletionBar);
  list.older.addEventListener("click", showOlder);
  list.rows.addEventListener("click", press);
  list.rows.addEventListener("keydown", pressKey);
  list.rows.addEventListener("focusin", ({ target }) => setCurrent(idOf(target)));
  list.menu.addEventListener("keydown", moveInMenu);
  list.menu.addEventListener("toggle", menuHasClosed);
  list.sidebar?.addEventListener("click", leaveByLink);
  list.observer = new IntersectionObserver(reachEnd, { root: list.rows, rootMargin: "200px" });
}

function end(root) {
  if (list.root !== root) return;
  list.observer.disconnect();
  list.sidebar?.removeEventListener("click", leaveByLink);
  list.root = null;
}

export function draw() {
  if (!list.root) return;
  list.isDrawing = true;
  const focused = document.activeElement;
  const groups = list.data.groups
    .map((group) => ({ ...group, rows: group.rows.filter((row) => !hasLeft(row.id)) }))
    .filter((group) => group.rows.length);
  list.order = groups.flatMap((group) => group.rows.map((row) => row.id));
  forgetGone();
  arrange(list.rows, [...groups.map(drawGroup), list.empty, list.older]);
  list.empty.hidden = list.order.length > 0;
  setText(list.empty, list.data.empty);
  drawOlder();
  drawSelection();
  drawDeletion();
  showOpen();
  if (focused !== document.activeElement && list.root.contains(focused)) {
    focused.focus({ preventScroll: true }); // it was moved
  }
  list.isDrawing = false;
}

function forgetGone() {
  const shown = new Set(list.order);
  for (const id of list.items.keys()) if (!shown.has(id)) list.items.delete(id);
  for (const id of selection.ids) if (!shown.has(id)) selection.ids.delete(id);
  if (menu.id && !shown.has(menu.id)) closeMenu();
  if (!shown.has(list.current)) list.current = shown.has(openId()) ? openId() : list.order[0];
}

export function rowOf(id) {
  for (const group of list.data.groups) {
    const row = group.rows.find((one) => one.id === id);
    if (row) return row;
  }
}

function idOf(element) {
  return element.closest(".row")?.dataset.session ?? null;
}

// Another session was opened: scroll to its row if it is out of view, and only then.
function showOpen() {
  const open = openId();
  if (open === list.shownOpen) return;
  list.shownOpen = open;
  const row = list.items.get(open)?.getBoundingClientRect();
  const view = list.rows.getBoundingClientRect();
  if (row && row.bottom > view.bottom) list.rows.scrollTop += row.bottom - view.bottom;
  else if (row && row.top < view.top) list.rows.scrollTop -= view.top - row.top;
}

function press(event) {
  const id = idOf(event.target);
  if (!id) return;
  if (event.target.closest(".more")) openMenu(id);
  else if (event.shiftKey) selectTo(id);
  else if (isSelecting() || event.ctrlKey || event.metaKey) toggle(id);
  else openSession(id);
}

function openSession(id) {
  const leaving = asked(["open", "new"]);
  if (leaving?.do !== "open" || leaving.ids[0] !== id) ask("open", { ids: [id] });
  closeDrawer();
}

// In a narrow window the sidebar covers the page that was chosen in it.
function closeDrawer() {
  if (!window.matchMedia(NARROW).matches) return;
  list.sidebar?.querySelector('[data-testid="stSidebarCollapseButton"] button')?.click();
}

function leaveByLink({ target }) {
  if (target.closest(LINKS)) setTimeout(closeDrawer);
}

export function setCurrent(id) {
  if (id === null || id === list.current) return;
  for (const [one, place] of [[list.current, "-1"], [id, "0"]]) {
    const buttons = list.items.get(one)?.querySelectorAll("button") ?? [];
    for (const button of buttons) setAttribute(button, "tabindex", place);
  }
  list.current = id;
}

export function focusRow(id) {
  list.items.get(id)?.querySelector(".open").focus();
}

function focusBeside(id, step) {
  focusRow(list.order[list.order.indexOf(id) + step]);
}

// Rows are about to leave the list: move the focus from one of them to the next that stays.
export function leaveRows(ids) {
  const place = list.order.indexOf(ids[0]);
  const stays = (id) => !ids.includes(id);
  focusRow(list.order.slice(place).find(stays) ?? list.order.slice(0, place).findLast(stays));
}

const KEYS = {
  ArrowDown: (id) => focusBeside(id, 1),
  ArrowUp: (id) => focusBeside(id, -1),
  Home: () => focusRow(list.order[0]),
  End: () => focusRow(list.order.at(-1)),
  ContextMenu: openMenu,
  F2: startRename,
  Delete: (id) => askToDelete([id], anchorOf(id)),
  Escape: endSelection,
};

function pressKey(event) {
  const id = idOf(event.target);
  const key = event.shiftKey && event.key === "F10" ? "ContextMenu" : event.key;
  const act = KEYS[key];
  if (!id || !act || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  act(id);
}

export function mount({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".sessions");
  list.data = data;
  acts.trigger = setTriggerValue;
  settleActs(data.acted);
  if (list.root !== root) {
    begin(root);
    sendActs(); // acts that the previous component could not send
  }
  draw();
  return () => end(root);
}
