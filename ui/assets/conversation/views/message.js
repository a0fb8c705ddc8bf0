// One speaker's messages, block by block: a table of views by content type.
import { answerOf, fold, foldLabel } from "../blocks.js";
import { oneLine } from "../formats.js";
import { html, icon, useMemo } from "../html.js";
import { markOf } from "../marks.js";
import { picturesOf, piecesOf } from "../pieces.js";
import { AnswerTables, tablesIn } from "./answer_tables.js";
import { Copy, Fold } from "./buttons.js";
import { Artifact, Failure, File, Notice, Todos } from "./small.js";
import { Sources } from "./sources.js";
import { Interrupt, Result, Step } from "./step.js";
import { Labelled, Markdown, Verbatim } from "./text.js";

/** Why an agent did not do its task, if its answer says only that. @param {string} text */
const whyNotDone = (text) => {
  if (!text.includes("taskComplete") || !text.trimStart().startsWith("{")) return null;
  try {
    const answer = JSON.parse(text);
    return answer.taskComplete === false ? String(answer.message || "No reason was given.") : null;
  } catch {
    return null;
  }
};

/** An agent's answer, with the session's own pictures that it shows. */
const Answer = ({ row, text, conversation }) => {
  const { reader, page, session } = conversation;
  const pictures = useMemo(() => picturesOf(page.value.items), [page.value.items]);
  const pieces = useMemo(() => piecesOf(text, pictures, session.value.id), [text, pictures]);
  return pieces.map((piece, place) => "text" in piece
    ? html`<${Markdown} key=${`${row.id}-${place}`} text=${piece.text} reader=${reader} />`
    : html`<figure class="cq-figure">
        <img class="cq-picture" src=${conversation.result(piece.result, { format: "file" })} alt=${oneLine(piece.label)} />
        ${piece.label && html`<figcaption class="cq-small">${oneLine(piece.label)}</figcaption>`}
      </figure>`);
};

const Text = ({ block: { row }, conversation }) => {
  const { reader, person } = conversation;
  const text = String(row.content.text ?? "");
  const { author } = row.metadata;
  const tables = row.message_type === "assistant" ? tablesIn(text) : 0;
  const why = row.message_type === "user" ? null : whyNotDone(text);
  return html`
    ${row.message_type === "user" && author && author.id !== person && html`<p class="cq-small">${oneLine(author.name, 120)}</p>`}
    ${row.message_type === "user" ? html`<${Verbatim} text=${text} reader=${reader} />`
      : why !== null ? html`<div class="cq-error" role="note">${icon("block")}<div><strong>Not done.</strong> ${oneLine(why, 2000)}</div></div>`
      : html`<${Answer} row=${row} text=${text} conversation=${conversation} />`}
    ${row.message_type === "assistant" && why === null && tables > 0 && html`
      <${AnswerTables} message=${row.id} count=${tables} conversation=${conversation} />`}
    ${row.status === "stopped" && html`<p class="cq-small">${icon("stop_circle")} Stopped here</p>`}
    ${row.message_type === "assistant" && html`<${Sources} metadata=${row.metadata} />`}`;
};

const Thinking = ({ rows, conversation: { reader } }) => html`
  <${Fold} sign="psychology" label="Thinking">${rows.map((row) => html`
    <${Markdown} key=${row.id} text=${String(row.content.text ?? "")} reader=${reader} />
    <${Sources} metadata=${row.metadata} within />`)}<//>`;

const Unknown = ({ block: { row }, conversation: { reader } }) =>
  html`<${Labelled} label=${row.content_type} value=${row.content} reader=${reader} />`;

const ofRow = (View) => ({ block, conversation }) => html`<${View} row=${block.row} conversation=${conversation} />`;
const VIEWS = {
  text: Text,
  thinking: ({ block, conversation }) => html`<${Thinking} rows=${[block.row]} conversation=${conversation} />`,
  tool_call: Step,
  tool_result: ofRow(Result),
  todos: ofRow(Todos),
  artifact: ofRow(Artifact),
  image: ofRow(File),
  file: ofRow(File),
  interrupt: Interrupt,
  notice: ofRow(Notice),
  error: ofRow(Failure),
};

const Block = ({ block, conversation }) => {
  const View = Object.hasOwn(VIEWS, block.row.content_type) ? VIEWS[block.row.content_type] : Unknown;
  return html`<${View} block=${block} conversation=${conversation} />`;
};

const Part = ({ part, conversation }) => {
  if (!Array.isArray(part)) return html`<${Block} block=${part} conversation=${conversation} />`;
  const label = foldLabel(part, (seconds) => conversation.reader.duration(seconds));
  if (label === "Thinking") return html`<${Thinking} rows=${part.map(({ row }) => row)} conversation=${conversation} />`;
  return html`<${Fold} sign="construction" label=${label}>${part.map((block) => html`
    <${Block} key=${block.row.id} block=${block} conversation=${conversation} />`)}<//>`;
};

/** The line under an answer: who reads may copy it, and sees which model gave it. */
const Actions = ({ answer }) => html`
  <div class="cq-line cq-actions">
    <${Copy} text=${String(answer.content.text ?? "")} label="Copy this answer as Markdown" />
    <span class="cq-small">${oneLine(answer.metadata.model_name, 60)}</span>
  </div>`;

/** @param {{group: import("../types.js").Group, conversation: import("../store.js").Conversation, name: string | null, isLast: boolean}} given */
export const Message = ({ group, conversation, name, isLast }) => {
  const answer = answerOf(group);
  const speaker = group.isUser ? "user" : group.agent ?? "assistant";
  const mark = name === null ? null : markOf(name);
  return html`
    <article class=${group.isUser ? "cq-message cq-of-person" : "cq-message"} aria-label=${`Message of ${speaker}`}>
      ${mark ? html`<span class="cq-face" style=${{ background: mark.colour }} aria-hidden="true">${mark.initial}</span>`
        : html`<span class="cq-face" aria-hidden="true">${icon(group.isUser ? "person" : "forum")}</span>`}
      <div class="cq-body">
        ${name !== null && html`<p class="cq-small"><strong>${oneLine(name, 80)}</strong></p>`}
        ${fold(group.blocks).map((part) => html`
          <${Part} key=${(Array.isArray(part) ? part[0] : part).row.id} part=${part} conversation=${conversation} />`)}
        ${answer && isLast && html`<${Actions} answer=${answer} />`}
      </div>
    </article>`;
};
