// Links to sessions and pages, and to what the panel shows. With a modifier key, or in another tab,
// they are links like any other.
import { app } from "../../app.js";
import { host } from "../../host.js";
import { html, useEffect, useMemo } from "../../html.js";
/** @import { Conversation } from "../../store.js" */

const isPlain = ({ button, metaKey, ctrlKey, shiftKey, altKey }) => !(button || metaKey || ctrlKey || shiftKey || altKey);

const Link = ({ address, go, children }) => {
  const follow = (event) => {
    if (!isPlain(event)) return;
    event.preventDefault();
    go();
  };
  return html`<a class="colloquy-text-button" href=${address} onClick=${follow}>${children}</a>`;
};

/** @param {{page: string, children: any}} given */
export const PageLink = ({ page, children }) =>
  html`<${Link} address=${`/${page}`} go=${() => host.go(page)}>${children}<//>`;

/** @param {{session: string, readsOnly?: boolean, children: any}} given */
export const SessionLink = ({ session, readsOnly = false, children }) => html`
  <${Link} address=${`/?session=${session}${readsOnly ? "&view=read" : ""}`}
    go=${() => app.open(session, readsOnly ? { view: "read" } : {})}>${children}<//>`;

/** @param {{children: any}} given */
export const NewChatLink = ({ children }) => html`<${Link} address="/" go=${() => app.open(null)}>${children}<//>`;

/** Open something of a session in the panel; undefined for who reads by a link, who has none.
 * @param {Conversation} conversation @param {Record<string, any>} what */
export const openerOf = (conversation, what) =>
  conversation.id ? () => host.panel({ ...what, session: conversation.id }) : undefined;

const CELL = "a[href*='artifact=']";
const STILL = 4; // pixels that the pointer may move between press and release

/** Open the artifact, or the list of them, that an address names. @param {string} search @returns {boolean} whether it names one */
const openNamed = (search) => {
  const { session, artifact, row, column } = Object.fromEntries(new URLSearchParams(search));
  if (!session || !artifact) return false;
  const [id, version] = artifact.split("@");
  host.panel(artifact === "list" ? { kind: "artifacts", session }
    : { kind: "artifact", session, artifact: id, version: version && Number(version), row: row && Number(row), column });
  return true;
};

/** The panel stands beside one conversation: it opens what the address names, and is closed with it.
 * @param {Conversation} conversation */
const useNamed = (conversation) => useEffect(() => {
  const query = new URLSearchParams(location.search);
  if (query.get("session") === conversation.id && openNamed(location.search)) {
    for (const name of ["artifact", "row", "column"]) query.delete(name); // it is opened once
    history.replaceState(history.state, "", `?${query}`);
  }
  return () => document.body.hasAttribute("data-colloquy-panel") && host.panel({ kind: "close" });
}, []);

/** Lets links to artifacts open the panel, also one that a growing text has moved from under the
 * pointer between press and release. @returns {{onPointerDown: (event: any) => void, onClickCapture: (event: any) => void}} */
const panelLinks = () => {
  let pressed = null;
  const left = ({ clientX, clientY, detail }) => {
    const isStill = detail && pressed && Math.hypot(clientX - pressed.clientX, clientY - pressed.clientY) < STILL;
    return isStill && pressed.target.isConnected ? pressed.target.closest?.(CELL) : null;
  };
  return {
    onPointerDown: (event) => (pressed = event),
    onClickCapture: (event) => {
      const link = isPlain(event) && (event.target.closest?.(CELL) ?? left(event));
      if (!link) return;
      const { origin, search } = new URL(link.href, location.href);
      if (origin !== location.origin || !openNamed(search)) return;
      event.preventDefault();
      event.stopPropagation();
    },
  };
};

/** What a conversation's element needs for the panel: see above. @param {Conversation} conversation */
export const usePanel = (conversation) => {
  useNamed(conversation);
  return useMemo(panelLinks, []);
};
