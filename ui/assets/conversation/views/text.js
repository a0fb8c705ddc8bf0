// Texts: an agent's as Markdown, a person's and a tool's as they are written. Of a long text the
// rest is shown on demand.
import { StreamingText } from "../../markdown.js";
import { html, icon, render, useLayoutEffect, useMemo, useRef, useState } from "../html.js";
import { readable } from "../json.js";
import { partsOf } from "../markup.js";
import { save } from "../../saving.js";
import { CodeBlock as Block } from "./buttons.js";
import { Diagram } from "./diagram.js";

const ANSWER_CHARS = 200_000;
const SHOWN_CHARS = 20_000;
const TOO_MUCH = "Shown as plain text: it has more markup than a browser can lay out.";

/** @param {string} text @param {number} most */
const firstOf = (text, most) => {
  if (text.length <= most) return text;
  const cut = text.lastIndexOf("\n", most);
  return text.slice(0, cut > most / 2 ? cut : most);
};

/** Show a text up to a limit, and all of it once asked for; a long one is also a file. */
const Long = ({ text, most, reader, draw }) => {
  const [isWhole, showWhole] = useState(false);
  const shown = isWhole ? text : firstOf(text, most);
  const size = text.length < 1e6 ? reader.number(text.length) : `${reader.number(text.length / 1e6, { decimals: 1 })} million`;
  const keep = () => save(new Blob([text], { type: "text/plain" }), "message.txt");
  return html`
    ${draw(shown)}
    ${text.length > SHOWN_CHARS && html`
      <p class="cq-line cq-rest">
        ${shown.length < text.length && html`
          <span class="cq-small">The first ${reader.number(shown.length)} of ${size} characters</span>
          <button type="button" class="colloquy-text-button" onClick=${() => showWhole(true)}>${icon("expand_more")} Show all</button>`}
        <button type="button" class="colloquy-text-button" onClick=${keep}>${icon("download")} Download (${size} characters)</button>
      </p>`}`;
};

/** Give a code block its colours and its button, and draw a diagram's code. @param {Element} block */
const equip = (block) => {
  const text = block.textContent.replace(/\n$/, "");
  const [, language = ""] = /\blanguage-(\S+)/.exec(block.querySelector("code")?.className ?? "") ?? [];
  const around = document.createElement("div");
  block.replaceWith(around);
  const View = language === "mermaid" ? Diagram : Block;
  render(html`<${View} text=${text} language=${language} />`, around);
  return around;
};

/** The one renderer of Markdown: a stored text is a streamed one that has come in one piece. What has
 * streamed stays as it is drawn when it is stored. */
const Drawn = ({ text, draft = null, marks = undefined }) => {
  const place = useRef(null);
  const drawn = useRef(/** @type {StreamingText | null} */ (null));
  useLayoutEffect(() => {
    if (drawn.current?.text === text && !draft) {
      drawn.current.draw(); // what has come last, before it was stored
    } else {
      drawn.current = new StreamingText();
      drawn.current.add(draft ? draft.text : text);
      drawn.current.draw();
      place.current.replaceChildren(drawn.current.element);
    }
    if (draft) {
      draft.drawnBy(drawn.current);
      return () => draft.drawnBy(null); // no frame that is due draws over what follows
    }
    const made = [...drawn.current.element.querySelectorAll("pre:not(.colloquy-formula)")].map(equip);
    return () => made.forEach((one) => render(null, one));
  }, [text, draft]);
  useLayoutEffect(() => draft ? undefined : marks?.draw(place.current), [text, draft, marks?.of]);
  return html`<div ref=${place} dir="auto"></div>`;
};

/** What a browser can lay out as Markdown, the rest as it is written. */
const Parts = ({ text, draft, marks }) => {
  const parts = useMemo(() => (draft ? [{ text: "", isPlain: false }] : partsOf(text)), [text, draft]);
  return parts.map((part, place) => part.isPlain
    ? html`<p key=${place} class="cq-small">${icon("info")} ${TOO_MUCH}</p>
        <div class="cq-verbatim" dir="auto">${part.text}</div>`
    : html`<${Drawn} key=${place} text=${part.text} draft=${draft} marks=${marks} />`);
};

/** `marks`: what marks some of its links, as long as `of` is the same.
 * @param {{text: string, reader: import("../formats.js").Reader, draft?: import("../drafts.js").Draft, marks?: {of: any, draw: (element: Element) => void}}} given */
export const Markdown = ({ text, reader, draft = undefined, marks = undefined }) =>
  html`<${Long} text=${text} most=${ANSWER_CHARS} reader=${reader}
    draw=${(shown) => html`<${Parts} text=${shown} draft=${draft} marks=${marks} />`} />`;

export const Verbatim = ({ text, reader }) =>
  html`<${Long} text=${text} most=${SHOWN_CHARS} reader=${reader}
    draw=${(shown) => html`<div class="cq-verbatim" dir="auto">${shown}</div>`} />`;

export const Code = ({ text, reader, language = "" }) =>
  html`<${Long} text=${text} most=${SHOWN_CHARS} reader=${reader}
    draw=${(shown) => html`<${Block} text=${shown} whole=${text} language=${language} />`} />`;

export const Labelled = ({ label, value, reader }) => {
  const [text, language] = readable(value);
  return html`
    <p class="cq-small">${label}</p>
    <${Code} text=${text || "(empty)"} reader=${reader} language=${language} />`;
};
