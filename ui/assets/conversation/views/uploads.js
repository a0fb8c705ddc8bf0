// Where files are chosen or dropped, and what became of them. What is uploaded is in the page's own list: here it
// is said once, to who does not see that.
import { oneLine } from "../formats.js";
import { html, icon, useId, useLayoutEffect, useRef, useState } from "../html.js";
import { File, Small } from "./composer/files.js";
import { useDrop } from "./dropping.js";

/** A file that is there, but cannot be used. */
const Unread = ({ item, files }) => html`<div class="cq-error" role="alert">
  ${icon("error")}<div>${oneLine(`${item.details.name}: ${item.details.problem}`, 600)}<div class="cq-line">
    <${Small} sign="close" label="Close" press=${() => files.keep((one) => one !== item)} />
  </div></div>
</div>`;

/** A file in one state: when that ends while a button of it has the focus, `heir` gets it. */
const Given = ({ item, files, reader, heir }) => {
  const place = useRef(null);
  useLayoutEffect(() => () => {
    if (place.current.contains(document.activeElement)) heir.current.focus();
  }, []);
  return html`<div class="cq-upload" ref=${place}>
    <${item.state === "there" ? Unread : File} item=${item} files=${files} reader=${reader} />
  </div>`;
};

/** @param {{files: import("../composer/files.js").Files, given: import("../uploads.js").Given, reader: import("../formats.js").Reader}} given */
export const Uploads = ({ files, given: { label, help, maxMb, areMany }, reader }) => {
  const [isOver, tellOver] = useState(false);
  const input = useRef(/** @type {HTMLInputElement | null} */ (null));
  const choose = useRef(null);
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
        <button type="button" class="cq-button" ref=${choose} aria-describedby=${about} onClick=${() => input.current.click()}>
          ${icon("upload")} ${areMany ? "Choose files" : "Choose a file"}</button>
        <span class="cq-small">or drop ${areMany ? "them" : "it"} here · at most ${reader.number(maxMb)} MB${areMany ? " each" : ""}</span>
        <input type="file" hidden multiple=${areMany} ref=${input} onChange=${take} />
      </div>
      <p id=${about} class="cq-small">${help}</p>
      ${items.filter(({ state, details }) => state !== "there" || details.problem).map((item) => html`
        <${Given} key=${`${item.number} ${item.state}`} item=${item} files=${files} reader=${reader} heir=${choose} />`)}
      <p class="cq-unseen" role="status">${there.length > 0 && `${there.join(", ")}: uploaded.`}</p>
    </section>`;
};
