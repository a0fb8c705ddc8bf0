// The card of a tool call: what was asked of the tool, and what it gave.
import { Problem } from "../api.js";
import { isChart, secondsOf, waits } from "../blocks.js";
import { oneLine } from "../formats.js";
import { html, icon, useEffect, useRef, useState } from "../html.js";
import { NotTaken, Waiting, deskOf } from "./acts/approvals.js";
import { openerOf } from "./acts/links.js";
import { Plan, planOf } from "./acts/plan.js";
import { Arguments, Changes } from "./arguments.js";
import { Fold } from "./buttons.js";
import { endWords, isEdited, outcomeOf, signOf, wordOf } from "./outcomes.js";
import { Sources, WebLink, hostOf } from "./sources.js";
import { Table } from "./table.js";
import { Code, Labelled, Verbatim } from "./text.js";

const QUERIES = ["query_source", "make_chart"];

const brief = (given) => {
  let read = given;
  if (typeof given === "string") {
    try {
      read = JSON.parse(given);
    } catch {
      return oneLine(given, 60);
    }
  }
  const values = read && typeof read === "object" && !Array.isArray(read) ? Object.values(read) : [];
  return oneLine(values.filter((one) => ["string", "number", "boolean"].includes(typeof one)).join(", "), 60);
};

const labelOf = (block, { person, reader }) => {
  const { row, asked, result } = block;
  const outcome = outcomeOf(result);
  const parts = [brief(asked ? asked.metadata.edited_arguments ?? asked.content.arguments : row.content.arguments)];
  if (asked) parts.push(endWords(asked, person, reader));
  if (outcome) parts.push(asked ? "" : outcome.label); // else how it was decided is there
  else parts.push(wordOf(signOf(block)));
  const seconds = secondsOf(block);
  if (seconds !== null) parts.push(reader.duration(seconds));
  return html`<strong>${oneLine(row.content.name || "tool", 80)}</strong>${parts.filter(Boolean).map((part) => ` · ${part}`)}`;
};

const NotRun = ({ row, outcome, reader }) => html`
  <p>${outcome.sentence}</p>
  <${Fold} sign="chat" label="What the agent was told">
    <${Verbatim} text=${String(row.content.content || "(nothing)")} reader=${reader} />
  <//>`;

const linkWords = ({ name, mime_type, uri }) =>
  [name, mime_type, hostOf(uri) || uri].filter(Boolean).map((part) => oneLine(part, 120)).join(" · ");

/** What a tool gave: a table, or its text; why there is none. */
export const Output = ({ row, conversation }) => {
  const { reader } = conversation;
  const { table, structured, links } = row.metadata;
  const outcome = outcomeOf(row);
  return html`
    ${outcome ? html`<${NotRun} row=${row} outcome=${outcome} reader=${reader} />`
      : table?.columns?.length ? html`<${Table} table=${table} path=${conversation.table(row.id)} conversation=${conversation}
        open=${openerOf(conversation, { kind: "table", message: row.id })} />`
      : html`<${Labelled} label=${row.content.is_error ? "Error" : "Result"} value=${row.content.content} reader=${reader} />`}
    ${structured && html`<${Labelled} label="Structured content" value=${structured} reader=${reader} />`}
    ${(links ?? []).map((link) => html`<p class="cq-small"><${WebLink} address=${link.uri}>${icon("link")} ${linkWords(link)}<//></p>`)}`;
};

/** A query, laid out by the API once it is seen; until then, and if that fails, as it was written. */
const Query = ({ row, sql, conversation }) => {
  const place = useRef(null);
  const [shown, show] = useState(sql);
  useEffect(() => {
    const seen = new IntersectionObserver(([{ isIntersecting }]) => {
      if (!isIntersecting) return;
      seen.disconnect();
      conversation.ask(conversation.query(row.id)).then((laidOut) => show(laidOut.sql)).catch((problem) => {
        if (!(problem instanceof Problem)) throw problem;
      });
    });
    seen.observe(place.current);
    return () => seen.disconnect();
  }, [row.id]);
  return html`<div ref=${place}><${Code} text=${shown} reader=${conversation.reader} language="sql" /></div>`;
};

const Input = ({ row, conversation }) => {
  const { reader } = conversation;
  const given = row.content.arguments;
  const { source, sql, ...rest } = given && typeof given === "object" ? given : {};
  const isQuery = QUERIES.includes(row.content.name) && typeof source === "string" && typeof sql === "string";
  if (!isQuery) return html`<${Labelled} label="Input" value=${given} reader=${reader} />`;
  return html`
    <p class="cq-small">Query of ${oneLine(source, 80)}</p>
    <${Query} row=${row} sql=${sql} conversation=${conversation} />
    ${deskOf(conversation).mayDecide && html`<button type="button" class="colloquy-text-button"
      onClick=${openerOf(conversation, { kind: "query", message: row.id, source, sql })}>${icon("edit_note")} Run your own</button>`}
    ${Object.keys(rest).length > 0 && html`<${Labelled} label="Other input" value=${rest} reader=${reader} />`}`;
};

/** What was asked of a person, and how it ended. */
export const Asked = ({ asked, reader }) => {
  const { message, decision } = asked.metadata;
  return html`
    ${isEdited(asked) ? html`<${Changes} before=${asked.content.arguments} after=${asked.metadata.edited_arguments} reader=${reader} />`
      : html`<${Arguments} given=${asked.content.arguments} reader=${reader} />`}
    ${message && html`<p class="cq-small">${decision === "respond" ? "Answer given instead" : "Reason"}</p>
      <${Verbatim} text=${message} reader=${reader} />`}
    <${NotTaken} id=${asked.content.approval_id} />`;
};

/** @param {{block: import("../types.js").Block, conversation: import("../store.js").Conversation}} given */
export const Step = ({ block, conversation }) => {
  const { row, result, asked } = block;
  const { reader } = conversation;
  if (asked && waits(block)) return html`<${Waiting} asked=${asked} desk=${deskOf(conversation)} />`;
  const plan = planOf(conversation, row.id);
  if (plan) return html`<${Plan} plan=${plan} conversation=${conversation} />`;
  const hasChart = isChart(block);
  const input = asked ? html`<${Asked} asked=${asked} reader=${reader} />` : html`<${Input} row=${row} conversation=${conversation} />`;
  return html`
    <${Fold} isStep isOpen=${isEdited(asked) || hasChart} sign=${signOf(block)} label=${labelOf(block, conversation)}>
      ${result && html`<${Output} row=${result} conversation=${conversation} />`}
      ${hasChart && !asked ? html`<${Fold} sign="code" label="Query">${input}<//>` : input}
      <${Sources} metadata=${row.metadata} within />
    <//>`;
};

/** A result whose call is on an earlier page. */
export const Result = ({ row, conversation }) => {
  const outcome = outcomeOf(row);
  const sign = outcome?.sign ?? (row.content.is_error ? "error" : "check");
  const label = html`<strong>${oneLine(row.content.name || "tool")}</strong>${outcome && ` · ${outcome.label}`}`;
  return html`<${Fold} isStep sign=${sign} label=${label}><${Output} row=${row} conversation=${conversation} /><//>`;
};

/** An approval whose call is on an earlier page. */
export const Interrupt = ({ block, conversation }) => {
  const { row } = block;
  const { person, reader } = conversation;
  if (waits(block)) return html`<${Waiting} asked=${row} desk=${deskOf(conversation)} />`;
  const label = html`<strong>${oneLine(row.content.name, 80)}</strong> · ${endWords(row, person, reader)}`;
  return html`<${Fold} isStep isOpen=${isEdited(row)} sign=${signOf({ row, result: null, asked: row })} label=${label}>
    <${Asked} asked=${row} reader=${reader} /><//>`;
};
