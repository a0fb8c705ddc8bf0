// What stands above and below the sessions: a new chat, the search by title, the archive, the keys.
import { html, icon, useRef, useState } from "../../html.js";
import { Shortcuts } from "../shortcuts.js";
/** @import { Sessions } from "../../list/sessions.js" */

const WAIT_MS = 300;
const MOST_CHARS = 200;
const IS_MAC = /Mac|iP/.test(navigator.platform);

/** @param {{sessions: Sessions, begin: () => void}} given */
export const Top = ({ sessions, begin }) => {
  const timer = useRef(0);
  const find = ({ target }) => {
    clearTimeout(timer.current);
    timer.current = window.setTimeout(() => sessions.show({ q: target.value.trim() }), WAIT_MS);
  };
  return html`
    <button type="button" class="new-chat" aria-label="New Chat" aria-keyshortcuts="Control+Shift+O" onClick=${begin}>
      ${icon("edit_square")} New Chat <kbd aria-hidden="true">${IS_MAC ? "⌘ ⇧ O" : "Ctrl + Shift + O"}</kbd></button>
    <label class="find">${icon("search")}<input type="search" aria-label="Search sessions" placeholder="Search by title"
      maxlength=${MOST_CHARS} autocomplete="off" defaultValue=${sessions.q.peek()} onInput=${find} /></label>`;
};

/** @param {{sessions: Sessions}} given */
export const Bottom = ({ sessions }) => {
  const [isShown, shows] = useState(false);
  const isArchived = sessions.archived.value;
  return html`
    <div class="bottom">
      <button type="button" class="wide" onClick=${() => sessions.show({ archived: !isArchived })}>
        ${icon(isArchived ? "arrow_back" : "inventory_2")} ${isArchived ? "Back to sessions" : "Archived"}</button>
      <button type="button" class="keys" aria-label="Keyboard shortcuts" title="Keyboard shortcuts" aria-keyshortcuts="?"
        onClick=${() => shows(true)}>${icon("keyboard")}</button>
    </div>
    ${isShown && html`<${Shortcuts} close=${() => shows(false)} />`}`;
};
