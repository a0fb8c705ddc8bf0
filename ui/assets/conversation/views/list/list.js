// The session list of the sidebar: New Chat, search, the sessions by day, their menus, and what keys
// and several at once do there. Rows are told apart by their place in the document, not by handlers
// of their own.
import { beginWriting } from "../../composer/composer.js";
import { html, useEffect, useLayoutEffect, useMemo, useRef, useSignal } from "../../html.js";
import { MOST_SELECTED, UNDO_SECONDS } from "../../list/sessions.js";
import { NEW_TITLE, between, groupsOf, heirOf, markOf, titleOf } from "../../list/rules.js";
import { Bottom, Top } from "./frame.js";
import { AllowedTools } from "./allowed_tools.js";
import { DeletionBar, ProblemBar, SelectionBar } from "./bars.js";
import { AskToDelete, Menu } from "./menu.js";
import { Rows } from "./row.js";
/** @import { Sessions } from "../../list/sessions.js" */

const NARROW = "(max-width: 768px)"; // where the sidebar covers the page

const idOf = (element) => element.closest(".row")?.dataset.session ?? null;

/** In a narrow window the sidebar covers the page that was chosen in it: press its own button. */
export const closeDrawer = () => {
  if (!window.matchMedia(NARROW).matches) return;
  /** @type {HTMLElement | null} */ (document.querySelector('[aria-label="Collapse sidebar"]'))?.click();
};

/**
 * @param {{sessions: Sessions, server: {value: any}, open: (id: string | null) => void}} given `open`: a
 * session, or a new chat
 */
export const SessionList = ({ sessions, server, open }) => {
  const root = useRef(/** @type {HTMLElement | null} */ (null));
  const rows = useRef(/** @type {HTMLElement | null} */ (null));
  const isDrawing = useRef(false);
  const kept = useMemo(() => new Rows(), []);
  const current = useSignal(/** @type {string | null} */ (null)); // the row that Tab moves to
  const selected = useSignal(/** @type {Set<string>} */ (new Set()));
  const anchor = useRef(/** @type {string | null} */ (null));
  const renaming = useSignal(/** @type {string | null} */ (null));
  const menu = useSignal(/** @type {{ids: string[], asks: boolean, anchor: Element} | null} */ (null));
  const tools = useSignal(/** @type {string | null} */ (null));
  const leaving = useSignal({ ids: /** @type {string[]} */ ([]), reopens: /** @type {string | null} */ (null) });
  const timer = useRef(0);

  const openId = sessions.openId.value;
  const shown = sessions.shown.value;
  const isArchived = sessions.archived.value;
  const groups = groupsOf(shown);
  const order = groups.flatMap(([, found]) => found.map(({ id }) => id));
  const chosen = [...selected.value].filter((id) => order.includes(id));
  const isSelecting = chosen.length > 0;
  const tabbed = order.includes(current.value) ? current.value : order.includes(openId) ? openId : order[0];

  const buttonOf = (id, name = ".open") =>
    /** @type {HTMLElement | null} */ (rows.current.querySelector(`[data-session="${CSS.escape(id ?? "")}"] ${name}`));
  const focusRow = (id) => buttonOf(id)?.focus();
  const focusBeside = (id, step) => focusRow(order[order.indexOf(id) + step]);
  const ofOwn = (ids) => ids.filter((id) => sessions.get(id)?.rights === "own");
  const select = (ids) => (selected.value = new Set([...new Set([...chosen, ...ofOwn(ids)])].slice(0, MOST_SELECTED)));
  const toggle = (id) => {
    anchor.current = id;
    if (chosen.includes(id)) selected.value = new Set(chosen.filter((one) => one !== id));
    else select([id]);
  };
  const endSelection = () => {
    selected.value = new Set();
    anchor.current = null;
  };
  const leave = (ids) => {
    focusRow(heirOf(order, ids));
    selected.value = new Set(chosen.filter((id) => !ids.includes(id)));
  };
  const putAway = (ids) => {
    leave(ids);
    sessions.act({ do: isArchived ? "restore" : "archive", ids });
  };
  const forgetDeletion = () => {
    clearTimeout(timer.current);
    leaving.value = { ids: [], reopens: null };
  };
  const remove = async (ids) => {
    forgetDeletion(); // an earlier one, which can no longer be undone here
    const reopens = ids.includes(openId) ? openId : null;
    leaving.value = { ids, reopens };
    timer.current = window.setTimeout(forgetDeletion, UNDO_SECONDS * 1_000);
    leave(ids);
    const done = sessions.act({ do: "delete", ids });
    if (reopens) open(null);
    if (!(await done) && leaving.value.ids === ids) forgetDeletion();
  };
  const undo = async () => {
    const { ids, reopens } = leaving.value;
    forgetDeletion();
    const done = sessions.act({ do: "undelete", ids });
    requestAnimationFrame(() => document.activeElement === document.body && focusRow(ids[0]));
    if (reopens && (await done)) open(reopens);
  };
  const clear = async (id) => {
    if (await sessions.act({ do: "clear", ids: [id] })) open(id);
  };
  const rename = (id) => (title, byKey) => {
    renaming.value = null;
    if (title) sessions.act({ do: "rename", ids: [id], title });
    if (byKey) requestAnimationFrame(() => focusRow(id));
  };
  const startRename = (id) => {
    if (sessions.get(id)?.rights === "own") renaming.value = id;
  };
  const ask = (ids, asks, beside) => (menu.value = { ids, asks, anchor: beside });
  const askToDelete = (id) => sessions.get(id)?.rights === "own" && ask([id], true, buttonOf(id, ".more"));
  const openMenu = (id) => {
    current.value = id;
    ask([id], false, buttonOf(id, ".more"));
  };
  const openSession = (id) => {
    open(id);
    closeDrawer();
  };

  const choicesFor = (id) => {
    const session = sessions.get(id);
    const allowed = ["verified_user", "Allowed tools", () => (tools.value = id)];
    if (session?.rights !== "own") return [allowed];
    const act = (name) => () => sessions.act({ do: name, ids: [id] });
    return [
      ["edit", "Rename", () => startRename(id)],
      session.pinned ? ["keep_off", "Unpin", act("unpin")] : ["keep", "Pin", act("pin")],
      isArchived ? ["unarchive", "Restore", () => putAway([id])] : ["archive", "Archive", () => putAway([id])],
      allowed,
      ["restart_alt", "Clear", () => clear(id)],
      ["check_box", "Select", () => toggle(id)],
      ["delete", "Delete", () => askToDelete(id)],
    ];
  };

  const press = (event) => {
    const id = idOf(event.target);
    if (!id || !event.target.closest("button")) return;
    if (event.target.closest(".more")) openMenu(id);
    else if (event.shiftKey) select(between(order, anchor.current ?? tabbed, id));
    else if (isSelecting || event.ctrlKey || event.metaKey) toggle(id);
    else openSession(id);
  };
  const KEYS = {
    ArrowDown: (id) => focusBeside(id, 1),
    ArrowUp: (id) => focusBeside(id, -1),
    Home: () => focusRow(order[0]),
    End: () => focusRow(order.at(-1)),
    ContextMenu: openMenu,
    F2: startRename,
    Delete: askToDelete,
    Escape: endSelection,
  };
  const pressKey = (event) => {
    const id = idOf(event.target);
    const key = event.shiftKey && event.key === "F10" ? "ContextMenu" : event.key;
    if (!id || !KEYS[key] || event.ctrlKey || event.metaKey || event.altKey) return;
    if (key === "Escape" && !isSelecting) return; // it may stop a turn
    event.preventDefault();
    KEYS[key](id);
  };

  useEffect(() => sessions.unread.see(openId), [openId]);
  useLayoutEffect(() => {
    buttonOf(openId)?.closest(".row").scrollIntoView({ block: "nearest" }); // only if it is out of view
  }, [openId]);
  // A row that has moved loses the focus.
  const focused = /** @type {HTMLElement} */ (root.current?.contains(document.activeElement) ? document.activeElement : null);
  isDrawing.current = true;
  useLayoutEffect(() => {
    isDrawing.current = false;
    if (focused?.isConnected && document.activeElement === document.body) focused.focus({ preventScroll: true });
  });

  const known = { unread: sessions.unread.ids.value, hasWorker: !server.value?.missing?.includes("worker") };
  const row = (session) => kept.row(session, {
    mark: markOf(session, known),
    isOpen: session.id === openId,
    place: session.id === tabbed ? "0" : "-1",
    selected: isSelecting ? chosen.includes(session.id) : null,
    rename: session.id === renaming.value ? rename(session.id) : null,
    isDrawing: () => isDrawing.current,
  });
  const opened = menu.value;
  const closeMenu = () => menu.value === opened && (menu.value = null);
  const nameOf = (id) => titleOf(sessions.get(id) ?? { title: NEW_TITLE });
  return html`
    <nav class="sessions" aria-label="Sessions" ref=${root}>
      <${Top} sessions=${sessions} begin=${() => { open(null); beginWriting(); closeDrawer(); }} />
      <div class="rows" ref=${rows} onClick=${press} onKeyDown=${pressKey} data-own-escape=${isSelecting ? "" : null}
        onFocusIn=${({ target }) => (current.value = idOf(target) ?? current.value)}>
        ${groups.map(([name, found]) => html`
          <section key=${name} class="group" aria-label=${name}><h2 class="day">${name}</h2><ul role="list">${found.map(row)}</ul></section>`)}
        ${!order.length && html`<p class="empty">${emptyText(sessions)}</p>`}
        <${Older} key="older" sessions=${sessions} rows=${rows} />
      </div>
      <${SelectionBar} count=${chosen.length} isArchived=${isArchived} putAway=${() => putAway(chosen)} cancel=${endSelection}
        remove=${(event) => ask(chosen, true, event.currentTarget)} />
      <${DeletionBar} count=${leaving.value.ids.length} undo=${undo} />
      <${ProblemBar} problem=${sessions.problem.value} close=${() => (sessions.problem.value = null)} />
      <${Bottom} sessions=${sessions} />
      ${opened && !opened.asks && html`
        <${Menu} name=${`Actions for ${nameOf(opened.ids[0])}`} anchor=${opened.anchor} choices=${choicesFor(opened.ids[0])} close=${closeMenu} />`}
      ${opened?.asks && html`
        <${AskToDelete} anchor=${opened.anchor} seconds=${UNDO_SECONDS} close=${closeMenu} remove=${() => remove(opened.ids)}
          what=${opened.ids.length === 1 ? `“${nameOf(opened.ids[0])}”` : `${opened.ids.length} sessions`} />`}
      ${tools.value && html`<${AllowedTools} id=${tools.value} close=${() => (tools.value = null)} />`}
    </nav>`;
};

const emptyText = (sessions) => {
  if (sessions.away.value) return "The list cannot be read now.";
  if (!sessions.isRead.value) return "";
  if (sessions.q.value) return "No session titles match.";
  return sessions.archived.value ? "No archived sessions." : "Your conversations will appear here.";
};

/** The button that reads older sessions; it is pressed by itself once each time that the end comes into view. */
const Older = ({ sessions, rows }) => {
  const button = useRef(null);
  const { cursor } = sessions.loaded.value;
  const isRead = sessions.isRead.value;
  const isLoading = sessions.isLoadingOlder.value;
  useEffect(() => {
    if (!cursor || !isRead) return undefined;
    let hasAsked = false;
    // A busy browser tells of several changes at once: the last entry is how things are.
    const observer = new IntersectionObserver((entries) => {
      if (!entries.at(-1).isIntersecting) hasAsked = false;
      else if (!hasAsked) {
        hasAsked = true;
        sessions.older();
      }
    }, { root: rows.current, rootMargin: "200px" });
    observer.observe(button.current);
    return () => observer.disconnect();
  }, [cursor, isRead, sessions.q.value, sessions.archived.value]);
  return cursor && html`<button type="button" class="older" ref=${button} disabled=${isLoading}
    onClick=${() => sessions.older()}>${isLoading ? "Loading older …" : "Show older"}</button>`;
};
