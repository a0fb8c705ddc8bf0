// A tool's table: its rows to sort, filter and copy, its files, or its chart.
import { Problem, addressOf } from "../api.js";
import { asTabbed, fileName, oneLine } from "../formats.js";
import { html, icon, useEffect, useMemo, useRef, useState } from "../html.js";
import { Chart } from "./chart.js";
import { Copy, Download } from "./buttons.js";

const FIRST_ROWS = 10;
const SHOWN_ROWS = 500; // of a table that is laid out whole
const MOST_NOTES = 3;
const NUMBERS = ["money", "number"];
const FILES = [["csv", "CSV"], ["xlsx", "Excel"]];

const compared = (text) => text.normalize("NFKC").toLowerCase();

/** The rows in which a cell contains the text, as it is stored or as it is shown. */
const rowsWith = (rows, columns, text, reader) => {
  const wanted = compared(text.trim());
  const has = (value, place) => value !== null
    && (compared(String(value)).includes(wanted) || compared(reader.cell(value, columns[place])).includes(wanted));
  return rows.filter((row) => row.some(has));
};

/** The rows in the order of a column: numbers by size, texts by the reader's alphabet, none last. */
const sorted = (rows, { place, isDown }, reader) => {
  const { compare } = new Intl.Collator(reader.locale, { numeric: true });
  const inOrder = (one, other) =>
    typeof one === "number" && typeof other === "number" ? one - other : compare(String(one), String(other));
  return rows.toSorted((oneRow, otherRow) => {
    const [one, other] = [oneRow[place], otherRow[place]];
    if (one === null || other === null) return Number(one === null) - Number(other === null);
    return isDown ? inOrder(other, one) : inOrder(one, other);
  });
};

/** 10 of 13 rows: how many are shown, and whether the tool has cut them. */
const counted = ({ row_count, rows, read_rows, complete = true }, shown, matching, reader) => {
  const total = row_count ?? rows.length;
  const all = reader.counted(total, "row");
  const parts = [];
  if (matching !== null) {
    parts.push(`${reader.number(matching)} of ${all} match`);
    if (shown < matching) parts.push(`first ${reader.number(shown)}`);
  } else {
    parts.push(shown < total ? `${reader.number(shown)} of ${all}` : all);
  }
  if (read_rows && read_rows < total) parts.push(`of the first ${reader.number(read_rows)} rows`);
  if (!complete) parts.push("cut at the tool's limit; there are more");
  return parts.join(" · ");
};

const Head = ({ column, order, onSort }) => {
  const state = order ? (order.isDown ? "descending" : "ascending") : "none";
  return html`
    <th scope="col" aria-sort=${state} class=${column.isNumber ? "cq-number" : ""}>
      <button type="button" onClick=${onSort}>
        ${column.name}${order && icon(order.isDown ? "arrow_downward" : "arrow_upward")}
      </button>
    </th>`;
};

const Rows = ({ columns, rows, order, setOrder, reader, title }) => html`
  <div class="cq-rows" tabindex="0" role="region" aria-label=${title}>
    <table>
      <thead><tr>${columns.map((column, place) => html`
        <${Head} column=${column} order=${order?.place === place ? order : null}
          onSort=${() => setOrder({ place, isDown: order?.place === place && !order.isDown })} />`)}</tr></thead>
      <tbody>${rows.map((row) => html`<tr>${columns.map((column, place) => html`
        <td class=${column.isNumber ? "cq-number" : ""} dir="auto">${reader.cell(row[place], column)}</td>`)}</tr>`)}</tbody>
    </table>
  </div>`;

const Notes = ({ notes = [] }) => {
  const shown = notes.length > MOST_NOTES + 1 ? notes.slice(0, MOST_NOTES) : notes;
  const rest = notes.slice(shown.length);
  return html`
    ${shown.map((note) => html`<p class="cq-small">${icon("info")} ${oneLine(note, 500)}</p>`)}
    ${rest.length > 0 && html`<details class="cq-fold"><summary>${rest.length} more notes</summary>
      ${rest.map((note) => html`<p class="cq-small">${oneLine(note, 500)}</p>`)}</details>`}`;
};

/** A table at a path of the API, of which its first rows are here.
 * @param {{table: import("../types.js").Table, path: string, conversation: import("../store.js").Conversation, open?: () => void}} given
 * `open`: opens it in the panel */
export const Table = ({ table, path, conversation, open = undefined }) => {
  const { reader } = conversation;
  const [view, choose] = useState(table.chart ? "chart" : "table");
  const [text, filter] = useState("");
  const [order, setOrder] = useState(null);
  const [most, show] = useState(FIRST_ROWS);
  const [whole, setWhole] = useState(null);
  const [problem, tell] = useState("");
  const isCut = Boolean(table.result_id) && table.rows.length < (table.row_count ?? table.rows.length);
  const needsAll = isCut && !whole && (text.trim() || order || most > FIRST_ROWS);
  useEffect(() => {
    if (!needsAll) return;
    conversation.ask(path).then(setWhole).catch((error) => {
      if (!(error instanceof Problem)) throw error;
      tell(`${error.message} Showing the first rows.`);
    });
  }, [needsAll]);
  const all = whole ?? table;
  const columns = useMemo(() => table.columns.map((column) => ({
    ...column, isNumber: NUMBERS.includes(column.kind),
  })), [table]);
  const found = useMemo(() => {
    const matching = text.trim() ? rowsWith(all.rows, columns, text, reader) : all.rows;
    return order ? sorted(matching, order, reader) : matching;
  }, [all, text, order]);
  const shown = found.slice(0, most);
  const title = oneLine(table.title || "Table", 120);
  const numbers = columns.some(({ isNumber }) => isNumber);
  return html`
    <section class="cq-table" aria-label=${title}>
      <div class="cq-line">
        <span class="cq-small cq-wide">${title}</span>
        <input class="cq-filter" type="search" placeholder="Filter rows" aria-label="Filter rows"
          value=${text} onInput=${({ currentTarget }) => filter(currentTarget.value)} />
        ${(table.chart || numbers) && html`<span class="cq-choice" role="group" aria-label="Show as">
          ${[["table", "table", "Table"], ["chart", "bar_chart", "Chart"]].map(([name, sign, label]) => html`
            <button type="button" aria-pressed=${String(view === name)} onClick=${() => choose(name)}>${icon(sign)} ${label}</button>`)}
        </span>`}
      </div>
      ${problem && html`<p class="cq-small" role="alert">${icon("warning")} ${problem}</p>`}
      ${view === "chart"
        ? html`<${Chart} path=${path} table=${table} containing=${text.trim()} conversation=${conversation} />`
        : html`<${Rows} columns=${columns} rows=${shown} order=${order} setOrder=${setOrder} reader=${reader} title=${title} />`}
      <div class="cq-line">
        <span class="cq-small cq-wide">${counted(all, view === "table" ? shown.length : found.length, text.trim() ? found.length : null, reader)}</span>
        ${view === "table" && shown.length < Math.max(found.length, isCut && !whole ? table.row_count ?? 0 : 0) && html`
          <button type="button" class="colloquy-text-button" onClick=${() => show(SHOWN_ROWS)}>${icon("expand_more")} Show more rows</button>`}
        <${Copy} text=${() => asTabbed({ ...all, rows: found }, reader)} label="Copy the rows for a spreadsheet" said="Copy" />
        ${FILES.map(([format, label]) => html`
          <${Download} href=${addressOf(path, { format })} name=${fileName(table.title, format)}
            label=${label} title=${`Download all rows as ${label}`} />`)}
        ${open && html`<button type="button" class="colloquy-text-button" title="Open in the panel, to work on it" onClick=${open}>${icon("open_in_full")} Open</button>`}
      </div>
      <${Notes} notes=${[...(table.notes ?? []), ...(table.doubts ?? []).map((one) => `${one}.`)]} />
    </section>`;
};
