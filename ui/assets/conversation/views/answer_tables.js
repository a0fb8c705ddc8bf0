// The tables of an answer, to sort, filter, chart and keep: read when they are asked for.
import { Problem } from "../api.js";
import { oneLine } from "../formats.js";
import { html, icon, useState } from "../html.js";
import { blocksOf } from "../markup.js";
import { openerOf } from "./acts/links.js";
import { Fold } from "./buttons.js";
import { Table } from "./table.js";

/** How many tables a text has been drawn with. @param {string} text */
export const tablesIn = (text) =>
  text.includes("|") ? blocksOf(text).filter(({ type }) => type === "table_open").length : 0;

/** @param {{message: string, count: number, conversation: import("../store.js").Conversation}} given */
export const AnswerTables = ({ message, count, conversation }) => {
  const [tables, keep] = useState(null);
  const [problem, tell] = useState("");
  const read = async ({ currentTarget }) => {
    if (!currentTarget.open || tables) return;
    try {
      keep(await Promise.all(Array.from({ length: count }, (_, n) => conversation.ask(conversation.table(message, n + 1)))));
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      tell(error.message);
    }
  };
  const label = count === 1 ? "Sort, filter or keep this table" : `Work with ${count} tables`;
  return html`
    <${Fold} sign="table_view" label=${label} onToggle=${read} name="cq-tables">
      ${problem && html`<p class="cq-small" role="alert">${icon("warning")} ${oneLine(problem, 600)}</p>`}
      ${(tables ?? []).map((table, n) => html`
        <${Table} table=${{ ...table, title: count > 1 ? `Table ${n + 1}` : "Table" }} conversation=${conversation}
          path=${conversation.table(message, n + 1)} open=${openerOf(conversation, { kind: "table", message, number: n + 1 })} />`)}
    <//>`;
};
