// Where files are chosen or dropped, and what became of them. What is uploaded is in the page's own list: here it
// is said once, to who does not see that.
import { oneLine } from "../formats.js";
import { html, icon, useId, useRef, useState } from "../html.js";
import { File, Small } from "./composer/files.js";
import { useDrop } from "./dropping.js";

/** A file that is there, but cannot be used. */
const Unread = ({ item, files }) => html`<div class="cq-error" role="alert">
  ${icon("error")}<div>${oneLine(`${item.details.name}: ${item.details.problem}`, 600)}<div class="cq-line">
    <${Small} sign="close" label="Close" press=${() => files.keep((one) => one !== item)} />
  </div></div>
</div>`;

/** @param {{files: import("../composer/files.js").Files, given: import("../uploads.js").Given, reader: import("../formats.js").Reader}} given */
export const Uploads = ({ files, given: { label, help, maxMb, areMany }, reader }) => {
  const [isOver, tellOver] = useState(false);
  const input = useRef(/** @type {HTMLInputElement | null} */ (null));
  const head = useId();
  const about = useId();
  const add = (/** @type {Iterable<File>} */ given) => {
    files.keep(({ state, details }) => !["refused", "large"].includes(state) && !details); // of an earlier time
    files.add(areMany ? given : [...given].slice(0, 1), maxMb);
  };
  const take = () => {
    add([...input.current.files]);
    input.current.value = ""; // so that the same file can be chosen again
  };
  useDrop(add, tellOver);
  const items = files.items.value;
  const there = items.filter(({ state }) => state === "there").map(({ details }) => oneLine(details.name, 120));
  return html`
    <section class=${`cq cq-uploads-place ${isOver ? "cq-takes" : ""}`} aria-labelledby=${head}>
      <p id=${head} class="cq-uploads-head">${label}</p>
      <div class="cq-box cq-line">
        <button type="button" class="cq-button" aria-describedby=${about} onClick=${() => input.current.click()}>
          ${icon("upload")} ${areMany ? "Choose files" : "Choose a file"}</button>
        <span class="cq-small">or drop ${areMany ? "them" : "it"} here · at most ${reader.number(maxMb)} MB${areMany ? " each" : ""}</span>
        <input type="file" hidden multiple=${areMany} ref=${input} onChange=${take} />
      </div>
      <p id=${about} class="cq-small">${help}</p>
      ${items.map((item) => item.state !== "there"
        ? html`<${File} key=${item.number} item=${item} files=${files} reader=${reader} />`
        : item.details.problem && html`<${Unread} key=${item.number} item=${item} files=${files} />`)}
      <p class="cq-unseen" role="status">${there.length > 0 && `${there.join(", ")}: uploaded.`}</p>
    </section>`;
};
