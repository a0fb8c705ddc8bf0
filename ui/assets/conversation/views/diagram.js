// A diagram from its code; Mermaid is loaded with the first one.
import { html, icon, useEffect, useRef, useState } from "../html.js";
import { libraries } from "../libraries.js";
import { CodeBlock, Fold } from "./buttons.js";

const MOST_CHARS = 10_000;
const MOST_LINES = 300;
const TOO_LARGE = "This diagram is too large to draw. Its code is shown instead.";
const BROKEN = "This diagram cannot be drawn. Its code is shown instead.";
let number = 0;

/** @param {Element} element */
const load = async (element) => {
  await libraries("mermaid.min.js");
  const theme = getComputedStyle(element).colorScheme === "dark" ? "dark" : "neutral";
  window.mermaid.initialize({ startOnLoad: false, securityLevel: "strict", theme, suppressErrorRendering: true });
  return window.mermaid;
};

/** @param {{text: string}} given */
export const Diagram = ({ text }) => {
  const place = useRef(null);
  const isLarge = text.length > MOST_CHARS || text.split("\n").length > MOST_LINES;
  const [said, say] = useState(isLarge ? TOO_LARGE : "");
  useEffect(() => {
    if (isLarge) return;
    load(place.current)
      .then((mermaid) => mermaid.render(`cq-diagram-${++number}`, text))
      .then(({ svg }) => place.current && (place.current.innerHTML = svg))
      .catch(() => say(BROKEN));
  }, [text]);
  if (said) return html`<p class="cq-small">${icon("info")} ${said}</p><${CodeBlock} text=${text} />`;
  return html`
    <div ref=${place} class="cq-diagram" role="img" aria-label="Diagram"></div>
    <${Fold} sign="code" label="Diagram's code"><${CodeBlock} text=${text} /><//>`;
};
