// A session's usage, in its head; read only when it is opened.
import { Refusal, useAct } from "../acting.js";
import { read } from "../api.js";
import { oneLine } from "../formats.js";
import { html, useEffect, useState } from "../html.js";
import { Popover } from "./popover.js";
import { ToPage } from "./to_page.js";

const BUDGETS = { session: "This session", domain: "This month, all sessions of the domain", tokens: "Today", cost: "Today" };
const COST_DIGITS = 2;

/** A cost with two decimals, or with those of its first two digits: 12.50, 0.0031. */
const cost = (amount, reader) =>
  reader.number(amount, { decimals: amount ? Math.max(COST_DIGITS, 1 - Math.floor(Math.log10(amount))) : COST_DIGITS });

const isUnreported = ({ model_calls, input_tokens }) => model_calls > 0 && input_tokens === 0;

/** 1,234 tokens in (1,000 cached), 56 out · 3 model calls · cost 0.0031. */
export const usageWords = (used, reader) => {
  const calls = reader.counted(used.model_calls, "model call");
  if (isUnreported(used)) return `Tokens not reported · ${calls}`;
  const cached = used.cached_tokens ? ` (${reader.number(used.cached_tokens)} cached)` : "";
  const thought = used.reasoning_tokens ? ` (${reader.number(used.reasoning_tokens)} thinking)` : "";
  const tokens = `${reader.number(used.input_tokens)} tokens in${cached}, ${reader.number(used.output_tokens)} out${thought}`;
  return [tokens, calls, ...(used.cost ? [`cost ${cost(used.cost, reader)}`] : [])].join(" · ");
};

/** This session: 1,200 of 5,000 tokens. */
export const budgetWords = ({ kind, used, limit }, reader) => {
  const part = kind.includes("tokens") ? `${reader.number(used)} of ${reader.number(limit)} tokens` : `cost ${cost(used, reader)} of ${cost(limit, reader)}`;
  return `${BUDGETS[kind.split("_")[0]]}: ${part}`;
};

const Latest = ({ rows, hasCost, reader }) => html`
  <div class="cq-rows"><table>
    <thead><tr><th>In</th><th>Out</th>${hasCost && html`<th>Cost</th>`}<th>Took</th><th>Latest turns</th></tr></thead>
    <tbody>${rows.map(({ turn_id, usage, seconds, message }) => html`
      <tr key=${turn_id}>
        <td class="cq-number">${reader.number(usage.input_tokens)}</td><td class="cq-number">${reader.number(usage.output_tokens)}</td>
        ${hasCost && html`<td class="cq-number">${cost(usage.cost, reader)}</td>`}
        <td>${seconds === null ? "" : reader.duration(seconds)}</td><td dir="auto">${oneLine(message)}</td>
      </tr>`)}</tbody>
  </table></div>`;

const Figures = ({ conversation }) => {
  const { reader, path } = conversation;
  const [used, tell] = useState(null);
  const { act, problem } = useAct(async () => tell(await read(`${path}/usage`)));
  useEffect(() => void act(), [path]);
  if (!used) return html`<${Refusal} problem=${problem} />`;
  const names = (holds) => oneLine(used.models.filter(holds).map(({ model }) => model).join(", "));
  const unpriced = names(({ has_price }) => !has_price);
  const unreported = names(isUnreported);
  return html`
    <p>${used.turns ? usageWords(used.total, reader) : "No usage yet."}</p>
    ${used.models.length > 1 && used.models.map((one) => html`<p class="cq-small">${oneLine(one.model, 60)}: ${usageWords(one, reader)}</p>`)}
    ${unpriced && html`<p class="cq-small">No price is set for ${unpriced}.</p>`}
    ${unreported && html`<p class="cq-small">The endpoint of ${unreported} reports no tokens. What it uses counts as 0, also towards budgets.</p>`}
    ${used.budgets.map((one) => html`<label class="cq-budget">${budgetWords(one, reader)}<progress max="1" value=${Math.min(one.used / one.limit, 1)}></progress></label>`)}
    ${used.latest.length > 0 && html`<${Latest} rows=${used.latest} hasCost=${used.total.cost > 0} reader=${reader} />`}
    <p class="cq-small">The inspector shows each model call.</p>
    <${ToPage} page="usage" sign="bar_chart" label="Usage of all sessions" isIcon=${false} />`;
};

/** @param {{conversation: import("../store.js").Conversation}} given */
export const Usage = ({ conversation }) => html`
  <${Popover} sign="data_usage" label="Usage" tip="Tokens and cost of this session">${() => html`<${Figures} conversation=${conversation} />`}<//>`;
