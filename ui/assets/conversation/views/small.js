// The smaller elements of a history: to-dos, notices, errors, artifacts, files.
import { fileName, oneLine } from "../formats.js";
import { html, icon, useState } from "../html.js";
import { Download } from "./buttons.js";

const MARKS = { completed: "check_circle", in_progress: "pending" };
const STATES = { completed: "done", in_progress: "in progress" };
const PIXELS = ["image/png", "image/jpeg", "image/gif", "image/webp"]; // an SVG may load other things
const SOUNDS = ["audio/mpeg", "audio/wav", "audio/x-wav", "audio/ogg", "audio/flac"];

export const Todos = ({ row }) => {
  const todos = row.content.todos ?? [];
  const done = todos.filter(({ status }) => status === "completed").length;
  return html`
    <div class="cq-card">
      <p class="cq-small">${icon("checklist")} ${done} of ${todos.length} done</p>
      <ul class="cq-todos">${todos.map(({ status, content }) => html`
        <li>${icon(MARKS[status] ?? "radio_button_unchecked")}<span class="cq-unseen">${STATES[status] ?? "open"}: </span>${oneLine(content)}</li>`)}</ul>
    </div>`;
};

export const Notice = ({ row }) => html`
  <p class="cq-small">${icon(row.status === "stopped" ? "stop_circle" : "info")} ${oneLine(row.content.text, 2000)}</p>`;

/** Why a turn failed: said at once to who has followed it. */
export const Failure = ({ row, conversation }) => html`
  <div class="cq-error" role=${conversation.followed.has(row.turn_id) ? "alert" : "note"}>
    ${icon("error")}<div><strong>${oneLine(row.content.title || "This turn failed")}</strong><br />${oneLine(row.content.detail, 4000)}</div>
  </div>`;

const fileWords = ({ content, content_type }, reader) => {
  const parts = [oneLine(content.title || content.name || content.mime_type || content_type, 120)];
  if (Number.isInteger(content.bytes)) parts.push(reader.size(content.bytes));
  if (content.tool) parts.push(`from ${oneLine(content.tool, 80)}`);
  return parts.join(" · ");
};

/** A tool's image as an image, its sound as a player, all else as a download: from our own store. */
export const File = ({ row, conversation }) => {
  const [isBroken, breaks] = useState(false);
  const words = fileWords(row, conversation.reader);
  const { mime_type: kind, name } = row.content;
  const id = row.metadata.result_id;
  if (!id) return html`<p class="cq-small">${icon("attach_file")} ${words}</p>`;
  const href = conversation.result(id, { format: "file" });
  if (SOUNDS.includes(kind) && !isBroken) {
    return html`<audio controls src=${href} aria-label=${words} onError=${() => breaks(true)}></audio><p class="cq-small">${icon("volume_up")} ${words}</p>`;
  }
  if (PIXELS.includes(kind) && !isBroken) {
    return html`<img class="cq-picture" src=${href} alt=${words} loading="lazy" onError=${() => breaks(true)} /><p class="cq-small">${icon("image")} ${words}</p>`;
  }
  const [, stem, ending] = /^(.*?)(?:\.([^.]+))?$/.exec(String(name ?? "file")) ?? [];
  return html`<${Download} href=${href} name=${fileName(stem, ending ?? "bin")} label=${words} />`;
};
