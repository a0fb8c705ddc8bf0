// Files that were given to a message or a page, and what keeps some from being uploaded.
import { oneLine } from "../../formats.js";
import { html, icon } from "../../html.js";
import { Refusal, useAct } from "../../acting.js";

const REPLACED = "Sessions that have used it say so with each result from then on";
const BOTH_KEPT = "Sessions that have begun keep the file they have; later ones use this one";
const REMOVED = "Delete this file and send the message without it";

export const Small = ({ sign, label, tip = undefined, press }) => html`
  <button type="button" class="colloquy-text-button" title=${tip} onClick=${press}>${icon(sign)} ${label}</button>`;

/** One file: on its way, uploaded, or the reason why it is not.
 * @param {{item: import("../../composer/files.js").Item, files: import("../../composer/files.js").Files, reader: import("../../formats.js").Reader}} given */
export const File = ({ item, files, reader }) => {
  const { number, state, share, problem, details, file } = item;
  const { act, problem: refused } = useAct(() => files.remove(number));
  const name = oneLine(file.name, 200);
  if (state === "sending") {
    return html`<div class="cq-line">
      <span class="cq-small">${icon("attach_file")} ${name} · ${reader.size(file.size)}</span>
      <progress max="1" value=${share < 1 ? share : undefined} aria-label=${`${name} is being ${share < 1 ? "uploaded" : "read"}`}></progress>
      <${Small} sign="close" label="Cancel" press=${act} />
    </div>`;
  }
  if (state === "there") {
    const words = details.problem ? `${name}: ${oneLine(details.problem)}` : name;
    return html`<div class="cq-line">
      <span class="cq-small">${icon("attach_file")} ${words}, uploaded ${reader.moment(details.created_at)}</span>
      <${Small} sign="close" label="Remove" tip=${REMOVED} press=${act} />
    </div><${Refusal} problem=${refused} />`;
  }
  const words = state === "lost" ? `${name} was not uploaded. ${problem}` : state === "alike" ? problem : `${name}: ${problem}`;
  return html`<div class=${state === "alike" ? "cq-info" : "cq-error"} role="alert">
    ${icon(state === "alike" ? "file_copy" : "error")}
    <div>${oneLine(words, 600)}<div class="cq-line">
      ${state === "alike" && html`
        <${Small} sign="sync_alt" label="Replace" tip=${REPLACED} press=${() => files.decide(number, "replace")} />
        <${Small} sign="file_copy" label="Keep both" tip=${BOTH_KEPT} press=${() => files.decide(number, "add")} />`}
      ${state === "lost" && html`<${Small} sign="replay" label="Try again" press=${() => files.decide(number, "refuse")} />`}
      <${Small} sign="close" label="Leave out" press=${act} />
    </div></div>
  </div>`;
};

/** @param {{files: import("../../composer/files.js").Files, reader: import("../../formats.js").Reader}} given */
export const Attached = ({ files, reader }) => files.items.value.length > 0 && html`
  <div class="cq-attached">${files.items.value.map((item) => html`<${File} key=${item.number} item=${item} files=${files} reader=${reader} />`)}</div>`;
