// Artifacts in the history: the card of one, and links to cells, marked where a newer version exists.
import { aboutOf } from "../../about.js";
import { oneLine } from "../../formats.js";
import { html, icon } from "../../html.js";
import { Chart } from "../chart.js";
/** @import { Conversation } from "../../store.js" */

const STALE = "†";
const KINDS = {
  table: ["table", "Table"], chart: ["bar_chart", "Chart"], document: ["article", "Document"],
  json: ["data_object", "JSON"], image: ["image", "Image"], file: ["attach_file", "File"],
};
const LINKED = /\]\(<?artifact:([0-9a-f-]{36})@(\d{1,9})/gi;

/** A link to a version of an artifact: `panelLinks` opens it in the panel. */
export const CellLink = ({ session, artifact, version, children }) =>
  html`<a href=${`?session=${session}&artifact=${artifact}@${version ?? 1}`}>${children}</a>`;

/** @param {{row: import("../../types.js").DisplayMessage, conversation: Conversation}} given */
export const Card = ({ row, conversation }) => {
  const { kind, title, name: called, version = 1, artifact_id } = row.content;
  if (!artifact_id) return html`<p class="cq-small">${icon("attach_file")} ${oneLine(title || called || "artifact")}</p>`;
  const [sign, named] = KINDS[Object.hasOwn(KINDS, kind) ? kind : "file"];
  const newest = aboutOf(conversation).artifacts.value.get(artifact_id)?.version;
  const name = oneLine(title || named, 120);
  const words = [named, `version ${version}`, row.agent].filter(Boolean).join(" · ");
  return html`
    <div class="cq-card">
      <p>${icon(sign)} <strong>${conversation.id
        ? html`<${CellLink} session=${conversation.id} artifact=${artifact_id} version=${version}>${name}<//>` : name}</strong></p>
      <p class="cq-small">${oneLine(words)}</p>
      ${newest > version && html`<p class="cq-small">${icon("update")} A newer version exists: ${newest}</p>`}
      ${kind === "chart" && conversation.id && html`
        <${Chart} path=${`artifacts/${artifact_id}/versions/${version}/table`} title=${name} conversation=${conversation} />`}
    </div>`;
};

/** What marks the links of a drawn text that point to an older version; undefined where nothing is
 * known. @param {Conversation} conversation */
export const marksOf = (conversation) => {
  const known = aboutOf(conversation).artifacts.value;
  return known.size ? { of: known, draw: (element) => mark(element, known) } : undefined;
};

const mark = (element, known) => {
  for (const link of element.querySelectorAll("a[href*='artifact=']")) {
    const [id, version] = (new URLSearchParams(link.search).get("artifact") ?? "").split("@");
    if (!(known.get(id)?.version > Number(version)) || link.title) continue;
    link.title = `Version ${version}; a newer version exists`;
    link.append(STALE);
  }
};

/** Each artifact that a text links to in an older version. @param {{text: string, conversation: Conversation}} given */
export const Stale = ({ text, conversation }) => {
  const known = aboutOf(conversation).artifacts.value;
  const found = new Map([...text.matchAll(LINKED)].map(([, id, version]) => [`${id}@${version}`, { version, its: known.get(id.toLowerCase()) }]));
  return [...found.values()].filter(({ its, version }) => its?.version > Number(version)).map(({ its, version }) => html`
    <p class="cq-small">${STALE} ${oneLine(its.title, 120)}: a newer version exists (version ${version} is linked here, version ${its.version} is the newest).</p>`);
};
