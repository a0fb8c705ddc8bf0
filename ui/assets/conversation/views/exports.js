// The exports of a session: downloads that are made on demand.
import { addressOf } from "../api.js";
import { fileName } from "../formats.js";
import { html, icon } from "../html.js";
import { Popover } from "./popover.js";
/** @import { Conversation } from "../store.js" */

// What is offered: its sign, its words, the ending of its file, and what the API is asked for. The program
// of its reader formats a workbook.
const OFFERED = /** @type {[string, string, string, Record<string, any>][]} */ ([
  ["web", "Web page, to print or save as PDF", "html", { format: "html" }],
  ["markdown", "Markdown", "md", { format: "markdown" }],
  ["table_view", "Tables of answers, as an Excel workbook", "xlsx", { format: "xlsx", tool_tables: false }],
  ["table_view", "Tables of answers and tools, as an Excel workbook", "xlsx", { format: "xlsx", tool_tables: true }],
  ["data_object", "JSON Lines, to import it elsewhere, with all branches", "jsonl", { format: "jsonl" }],
]);
const OF_READER = ["html", "markdown"];

/** Have the browser save what is at an address. @param {string} href @param {string} name */
const save = (href, name) => {
  const link = document.createElement("a");
  Object.assign(link, { href, download: name });
  link.click();
};

/** @param {{conversation: Conversation}} given */
export const Exports = ({ conversation }) => {
  const { title } = conversation.session.value;
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  const reader = { locale: conversation.reader.language, timezone: timeZone };
  const take = (ending, params) => () => {
    const given = OF_READER.includes(params.format) ? { ...params, ...reader } : params;
    save(addressOf(`${conversation.path}/export`, given), fileName(title || "Conversation", ending));
  };
  return html`
    <${Popover} sign="ios_share" label="Export">
      ${OFFERED.map(([sign, words, ending, params]) => html`
        <button key=${words} type="button" class="cq-choice-line" onClick=${take(ending, params)}>${icon(sign)} ${words}</button>`)}
      <p class="cq-small">Documents have the active branch, from the first message on.</p>
    <//>`;
};
