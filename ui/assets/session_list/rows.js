// Draws groups and rows into the existing elements, so that focus, scroll position and a title
// being edited are kept. What people wrote becomes text, never markup.
import { ask, asked, openId, titleOf } from "./acts.js";
import { arrange, make, makeButton, setAttribute, setText } from "./elements.js";
import { list } from "./list.js";
import { isSelecting, selection } from "./selection.js";

const MARKS = {
  running: "running",
  queued: "queued",
  waiting: "waits for approval",
  failed: "failed",
  unread: "has a new answer",
};

export function drawGroup(group) {
  const section = list.groups.get(group.name) ?? makeGroup(group.name);
  list.groups.set(group.name, section);
  arrange(section.lastElementChild, group.rows.map(drawRow));
  return section;
}

function makeGroup(name) {
  const section = make("section", "group", null, { "aria-label": name });
  section.append(make("h2", "day", name), make("ul", "", null, { role: "list" }));
  return section;
}

function drawRow(row) {
  const item = list.items.get(row.id) ?? makeRow(row.id);
  list.items.set(row.id, item);
  const [opener, menuOpener] = item.querySelectorAll(".open, .more");
  const title = titleOf(row);
  const isSelected = selection.ids.has(row.id);
  const current = row.id === list.current ? "0" : "-1";
  const shown = row.whose ? `${title} · ${row.whose}` : title;
  setText(opener, shown);
  setAttribute(opener, "title", shown);
  setAttribute(opener, "aria-label", row.mark ? `${shown}, ${MARKS[row.mark]}` : shown);
  setAttribute(opener, "aria-current", row.id === openId() ? "page" : null);
  setAttribute(opener, "role", isSelecting() ? "checkbox" : null);
  setAttribute(opener, "aria-checked", isSelecting() ? String(isSelected) : null);
  setAttribute(opener, "tabindex", current);
  setAttribute(menuOpener, "aria-label", `Actions for ${title}`);
  setAttribute(menuOpener, "tabindex", current);
  setAttribute(item, "data-mark", isSelecting() ? (isSelected ? "on" : "off") : row.mark);
  return item;
}

function makeRow(id) {
  const item = make("li", "row", null, { "data-session": id });
  item.append(
    makeButton("open", "", { dir: "auto" }),
    makeButton("more", "", { "aria-haspopup": "menu", "data-icon": "more_vert" }),
  );
  return item;
}

export function drawOlder() {
  const older = list.older;
  older.hidden = !list.data.older;
  older.disabled = Boolean(asked(["older"]));
  setText(older, older.disabled ? "Loading older …" : "Show older");
  const shown = JSON.stringify([list.data.archived, list.data.search, list.data.older]);
  if (list.olderShown !== shown) list.hasAskedOlder = false;
  if (list.olderShown === shown && list.wasLoading === older.disabled) return;
  Object.assign(list, { olderShown: shown, wasLoading: older.disabled });
  list.observer.unobserve(older); // it reports changes only, and the button may still be in view
  list.observer.observe(older);
}

export function showOlder() {
  if (!list.data.older || asked(["older"])) return; // the pending request may belong to another search
  list.hasAskedOlder = true;
  ask("older", { cursor: list.data.older });
}

// A page is requested automatically once for each time that the end comes into view; if it did not
// come, the button requests it again. A busy browser tells of several changes at once: the last
// entry is how things are.
export function reachEnd(entries) {
  if (!entries.at(-1).isIntersecting) list.hasAskedOlder = false;
  else if (!list.hasAskedOlder) showOlder();
}
