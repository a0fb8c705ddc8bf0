// One speaker's messages, block by block: a table of views by content type.
import { answerOf, fold, foldLabel } from "../blocks.js";
import { oneLine } from "../formats.js";
import { html, icon, useLayoutEffect, useMemo, useRef } from "../html.js";
import { markOf } from "../marks.js";
import { picturesOf, piecesOf } from "../pieces.js";
import { AnswerTables, tablesIn } from "./answer_tables.js";
import { Thoughts as StreamingThoughts } from "../../thoughts.js";
import { AnswerActions, MessageActions, edited } from "./acts/actions.js";
import { Card, Stale, marksOf } from "./acts/artifact.js";
import { Editor } from "./acts/edit.js";
import { NameLine } from "./acts/speaker.js";
import { Fold } from "./buttons.js";
import { Failure, File, Notice, Todos } from "./small.js";
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
  const { reader, items, session } = conversation;
  const pictures = useMemo(() => picturesOf(items.value), [items.value]);
  const pieces = useMemo(() => piecesOf(text, pictures, session.value?.id), [text, pictures]);
  const marks = marksOf(conversation);
  const drawn = pieces.map((piece, place) => "text" in piece
    ? html`<${Markdown} key=${`${row.id}-${place}`} text=${piece.text} reader=${reader} draft=${row.draft} marks=${marks} />`
    : html`<figure class="cq-figure">
        <img class="cq-picture" src=${conversation.result(piece.result, { format: "file" })} alt=${oneLine(piece.label)} />
        ${piece.label && html`<figcaption class="cq-small">${oneLine(piece.label)}</figcaption>`}
      </figure>`);
  return html`${drawn}<${Stale} text=${text} conversation=${conversation} />`;
};

const OfPerson = ({ row, conversation }) => {
  const { person, may } = conversation;
  const { author } = row.metadata;
  const isEdited = edited.value?.id === row.id && may.value.ask;
  return html`
    ${author && author.id !== person && html`<p class="cq-small">${oneLine(author.name, 120)}</p>`}
    ${isEdited ? html`<${Editor} row=${row} conversation=${conversation} />`
      : html`<${Verbatim} text=${String(row.content.text ?? "")} reader=${conversation.reader} /><${MessageActions} row=${row} conversation=${conversation} />`}`;
};

const Text = ({ block: { row }, conversation }) => {
  const text = String(row.content.text ?? "");
  const tables = row.message_type === "assistant" ? tablesIn(text) : 0;
  const why = whyNotDone(text);
  if (row.message_type === "user") return html`<${OfPerson} row=${row} conversation=${conversation} />`;
  return html`
    ${why !== null ? html`<div class="cq-error" role="note">${icon("block")}<div><strong>Not done.</strong> ${oneLine(why, 2000)}</div></div>`
      : html`<${Answer} row=${row} text=${text} conversation=${conversation} />`}
    ${row.message_type === "assistant" && why === null && tables > 0 && html`
      <${AnswerTables} message=${row.id} count=${tables} conversation=${conversation} />`}
    ${row.status === "stopped" && html`<p class="cq-small">${icon("stop_circle")} Stopped here</p>`}
    ${row.message_type === "assistant" && html`<${Sources} metadata=${row.metadata} />`}`;
};

/** Thinking as it streams, in a box that stays at its end until the reader scrolls up. */
const Thoughts = ({ draft }) => {
  const place = useRef(null);
  useLayoutEffect(() => {
    const thoughts = new StreamingThoughts();
    thoughts.add(draft.text);
    place.current.replaceChildren(thoughts.element);
    thoughts.draw();
    draft.drawnBy(thoughts);
  }, [draft]);
  return html`<div ref=${place}></div>`;
};

const Thinking = ({ rows, conversation: { reader } }) => rows[0].draft
  ? html`<${Thoughts} draft=${rows[0].draft} />`
  : html`
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
  artifact: ofRow(Card),
  image: ofRow(File),
  file: ofRow(File),
  interrupt: Interrupt,
  notice: ofRow(Notice),
  error: ofRow(Failure),
};

/** The message that the address names: marked, and open. */
const Marked = ({ id, children }) => {
  const root = useRef(null);
  useLayoutEffect(() => {
    const fold = root.current.querySelector("details");
    if (fold) fold.open = true;
  }, []);
  return html`<div ref=${root} class="cq-hit" data-id=${id}>${children}</div>`;
};

const Block = ({ block, conversation }) => {
  const View = Object.hasOwn(VIEWS, block.row.content_type) ? VIEWS[block.row.content_type] : Unknown;
  const view = html`<${View} block=${block} conversation=${conversation} />`;
  return conversation.marked.value?.row === block.row.id ? html`<${Marked} id=${block.row.id}>${view}<//>` : view;
};

const Part = ({ part, conversation }) => {
  if (!Array.isArray(part)) return html`<${Block} block=${part} conversation=${conversation} />`;
  const label = foldLabel(part, (seconds) => conversation.reader.duration(seconds));
  if (label === "Thinking") return html`<${Thinking} rows=${part.map(({ row }) => row)} conversation=${conversation} />`;
  return html`<${Fold} sign="construction" label=${label}>${part.map((block) => html`
    <${Block} key=${block.row.id} block=${block} conversation=${conversation} />`)}<//>`;
};

/** @param {{group: import("../types.js").Group, conversation: import("../store.js").Conversation, name: string | null, route: any, isLast: boolean}} given
 * `route`: how its turn came to this agent, where that is told */
export const Message = ({ group, conversation, name, route, isLast }) => {
  const answer = answerOf(group);
  const speaker = group.isUser ? "user" : group.agent ?? "assistant";
  const mark = name === null ? null : markOf(name);
  // Nothing folds while it is being read: what was seen at work stays as it is.
  const marked = conversation.marked.value?.row;
  const isFollowed = group.blocks.some(({ row }) => conversation.followed.has(row.turn_id) || row.id === marked);
  const parts = isFollowed ? group.blocks : fold(group.blocks);
  const isWritten = group.blocks.some(({ row }) => row.draft);
  return html`
    <article class=${group.isUser ? "cq-message cq-of-person" : "cq-message"} aria-label=${`Message of ${speaker}`} aria-busy=${isWritten ? "true" : undefined}>
      ${mark ? html`<span class="cq-face" style=${{ background: mark.colour }} aria-hidden="true">${mark.initial}</span>`
        : html`<span class="cq-face" aria-hidden="true">${icon(group.isUser ? "person" : "forum")}</span>`}
      <div class="cq-body">
        ${name !== null && html`<${NameLine} agent=${name} route=${route} conversation=${conversation} />`}
        ${parts.map((part) => html`
          <${Part} key=${(Array.isArray(part) ? part[0] : part).row.id} part=${part} conversation=${conversation} />`)}
        ${answer && isLast && !answer.draft && html`<${AnswerActions} answer=${answer} conversation=${conversation} />`}
      </div>
    </article>`;
};
