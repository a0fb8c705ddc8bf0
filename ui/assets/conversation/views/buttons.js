// Small buttons beside texts and tables.
import { write } from "../../copy.js";
import DOMPurify from "../../vendor/dompurify.mjs";
import { html, icon, useEffect, useRef, useState } from "../html.js";
import { mayColour } from "../markup.js";

const SHOWN_MS = 2_000;
const clean = /** @type {any} */ (DOMPurify);

/** Copies a text in one click, and then shows a tick. */
export const Copy = ({ text, label, said = "" }) => {
  const [state, tell] = useState("");
  const timer = useRef(0);
  const copy = async () => {
    try {
      await write(typeof text === "function" ? text() : text);
      tell("Copied");
    } catch {
      tell("Not allowed by this browser");
    }
    clearTimeout(timer.current);
    timer.current = window.setTimeout(() => tell(""), SHOWN_MS);
  };
  return html`
    <button type="button" class="colloquy-text-button" aria-label=${state || label} title=${label} onClick=${copy}>
      ${icon(state === "Copied" ? "check" : "content_copy")}<span class="said">${state || said}</span>
    </button>`;
};

/** Code in the colours of its language, if that is known. */
const Coloured = ({ text, language }) => {
  const place = useRef(null);
  useEffect(() => {
    if (!language || !mayColour(text, language)) return;
    import("../../vendor/highlight.mjs").then(({ default: library }) => {
      if (!place.current || !library.getLanguage(language)) return;
      const { value } = library.highlight(text, { language, ignoreIllegals: true });
      place.current.replaceChildren(clean.sanitize(value, { RETURN_DOM_FRAGMENT: true }));
    }).catch((problem) => console.error(problem)); // it stays readable
  }, []);
  return html`<code ref=${place}>${text}</code>`;
};

/** Machine text with the button that copies all of it. */
export const CodeBlock = ({ text, whole = text, language = "" }) => html`
  <div class="cq-code">
    <pre tabindex="0"><${Coloured} key=${language + text} text=${text} language=${language} /></pre>
    <${Copy} text=${whole} label="Copy to clipboard" />
  </div>`;

/** A link that saves what is at an address. */
export const Download = ({ href, name, label, title = label }) => html`
  <a class="colloquy-text-button" href=${href} download=${name} title=${title}>${icon("download")} ${label}</a>`;

/** A line that opens to what is below it; `name`: a class of its own. */
export const Fold = ({ sign, children, label, isOpen = false, isStep = false, name = "", onToggle = undefined }) => html`
  <details class=${`cq-fold ${isStep ? "cq-step" : name}`} open=${isOpen} onToggle=${onToggle}>
    <summary>${icon(sign)}<span>${label}</span></summary>
    <div class="cq-folded">${children}</div>
  </details>`;
