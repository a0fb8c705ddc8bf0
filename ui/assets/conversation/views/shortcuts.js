// The list of keyboard shortcuts.
import { html } from "../html.js";
import { Dialog } from "./dialog.js";

const SHORTCUTS = /** @type {[string, [string, string][]][]} */ ([
  ["Anywhere", [
    ["Ctrl+K", "Search in messages"],
    ["Ctrl+Shift+O", "Start a new chat"],
    ["Esc", "Stop the running turn, or close a dialog or menu"],
    ["?", "Show this list"],
  ]],
  ["Message", [
    ["Enter Ctrl+Enter", "Send the message"],
    ["Shift+Enter", "Start a new line"],
    ["Esc", "Cancel the editing of a message"],
    ["@", "Choose an agent to ask, in domains with a manager"],
  ]],
  ["Session list", [
    ["↑ ↓ Home End", "Move between rows"],
    ["Enter", "Open the session"],
    ["F2", "Rename the session"],
    ["Delete", "Delete the session, after confirmation"],
    ["Shift+F10", "Open the session's menu"],
    ["Ctrl+click Shift+click", "Select several sessions"],
    ["Esc", "Clear the selection"],
  ]],
]);

/** @param {{close: () => void}} given */
export const Shortcuts = ({ close }) => html`
  <${Dialog} title="Keyboard shortcuts" close=${close}>
    <table class="cq-keys">
      <thead><tr><th>Key</th><th>What it does</th></tr></thead>
      ${SHORTCUTS.map(([place, keys]) => html`
        <tbody key=${place}>
          <tr><th colspan="2" scope="rowgroup">${place}</th></tr>
          ${keys.map(([written, does]) => html`<tr key=${written}><td>${written.split(" ").map((key) => html`<kbd>${key}</kbd> `)}</td><td>${does}</td></tr>`)}
        </tbody>`)}
    </table>
    <p class="cq-small">On a Mac, ⌘ does what Ctrl does.</p>
  <//>`;
