// Texts: an agent's as Markdown, a person's and a tool's as they are written. Of a long text the
// rest is shown on demand.
import { StreamingText } from "../../markdown.js";
import { html, icon, render, useLayoutEffect, useRef, useState } from "../html.js";
import { CodeBlock as Block } from "./buttons.js";
import { Diagram } from "./diagram.js";

const ANSWER_CHARS = 200_000;
const SHOWN_CHARS = 20_000;

/** @param {string} text @param {number} most */
const firstOf = (text, most) => {
  if (text.length <= most) return text;
  const cut = text.lastIndexOf("\n", most);
  return text.slice(0, cut > most / 2 ? cut : most);
};

/** Show a text up to a limit, and all of it once asked for. */
const Long = ({ text, most, reader, draw }) => {
  const [isWhole, showWhole] = useState(false);
  const shown = isWhole ? text : firstOf(text, most);
  return html`
    ${draw(shown)}
    ${shown.length < text.length && html`
      <p class="cq-small">
        The first ${reader.number(shown.length)} of ${reader.number(text.length)} characters
        <button class="colloquy-text-button" onClick=${() => showWhole(true)}>${icon("expand_more")} Show all</button>
      </p>`}`;
};

/** Give a code block its button, and draw a diagram's code. @param {Element} block */
const equip = (block) => {
  const text = block.textContent.replace(/\n$/, "");
  const around = document.createElement("div");
  block.replaceWith(around);
  const View = block.querySelector(".language-mermaid") ? Diagram : Block;
  render(html`<${View} text=${text} />`, around);
  return around;
};

/** The one renderer of Markdown: a stored text is a streamed one that has come in one piece. */
const Drawn = ({ text }) => {
  const place = useRef(null);
  useLayoutEffect(() => {
    const drawn = new StreamingText();
    drawn.add(text);
    drawn.draw();
    place.current.replaceChildren(drawn.element);
    const made = [...drawn.element.querySelectorAll("pre:not(.colloquy-formula)")].map(equip);
    return () => made.forEach((one) => render(null, one));
  }, [text]);
  return html`<div ref=${place} dir="auto"></div>`;
};

export const Markdown = ({ text, reader }) =>
  html`<${Long} text=${text} most=${ANSWER_CHARS} reader=${reader} draw=${(shown) => html`<${Drawn} text=${shown} />`} />`;

export const Verbatim = ({ text, reader }) =>
  html`<${Long} text=${text} most=${SHOWN_CHARS} reader=${reader}
    draw=${(shown) => html`<div class="cq-verbatim" dir="auto">${shown}</div>`} />`;

export const Code = ({ text, reader }) =>
  html`<${Long} text=${text} most=${SHOWN_CHARS} reader=${reader}
    draw=${(shown) => html`<${Block} text=${shown} whole=${text} />`} />`;

/** The text of a value: JSON is laid out, even if it comes as text. @param {unknown} value */
const readable = (value) => {
  if (typeof value !== "string") return JSON.stringify(value, null, 2) ?? "";
  try {
    const read = JSON.parse(value);
    return read !== null && typeof read === "object" ? JSON.stringify(read, null, 2) : value;
  } catch {
    return value;
  }
};

export const Labelled = ({ label, value, reader }) => html`
  <p class="cq-small">${label}</p>
  <${Code} text=${readable(value) || "(empty)"} reader=${reader} />`;
