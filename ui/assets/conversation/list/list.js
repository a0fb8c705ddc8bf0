// The session list of this tab, and how it follows what is open.
import { app } from "../app.js";
import { effect, html, render, untracked } from "../html.js";
import { SessionList, closeDrawer } from "../views/list/list.js";
import { host } from "../host.js";
import { Sessions } from "./sessions.js";

const SOON_MS = 600;

/** One for all pages of a tab. */
export const sessions = new Sessions();

/** What waits for a decision, as the script has drawn it beside its links. */
export const drawn = { waiting: "" };

const LINKS = '.st-key-sidebar-footer [class*="st-key-"]:not(.st-key-shortcuts)'; // they lead to other pages

/** Open a session, or a new chat: the list marks it at once. @param {string | null} id */
export const open = (id) => {
  sessions.openId.value = id;
  app.open(id);
};

/** Draw the list, and keep it true. @param {Element} root @returns {() => void} how it is left */
export const enterList = (root) => {
  const sidebar = root.closest("section");
  const pressed = ({ target }) => target.closest(LINKS) && setTimeout(closeDrawer);
  sidebar?.addEventListener("click", pressed);
  // Where the list is out of sight, Streamlit has a bar at the top, which the head of a session stays below.
  const seen = new IntersectionObserver((entries) => {
    document.documentElement.dataset.colloquyAside = entries.at(-1).isIntersecting ? "open" : "closed";
  });
  seen.observe(root.parentElement);
  const ends = [
    () => seen.disconnect(),
    effect(() => {
      sessions.openId.value = app.conversation.value?.id ?? null;
    }),
    effect(() => {
      const session = app.conversation.value?.session.value;
      if (session) untracked(() => sessions.put(session));
    }),
    effect(() => {
      app.conversation.value?.isBusy.value; // a turn begins or ends: what it needs itself comes first
      const due = setTimeout(() => sessions.look(), SOON_MS);
      return () => clearTimeout(due);
    }),
    effect(() => {
      const server = app.server.value;
      if (server && drawn.waiting !== `${server.pending_approvals} ${server.pending_tools}`) host.redraw();
    }),
    app.followServer(),
    sessions.follow(),
    () => sidebar?.removeEventListener("click", pressed),
  ];
  render(html`<${SessionList} sessions=${sessions} server=${app.server} open=${open} />`, root);
  return () => ends.forEach((end) => end());
};
