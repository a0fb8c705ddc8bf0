// A chart, as the API draws the table: Vega is loaded with the first one. Its axes are its reader's.
import { Problem, read } from "../api.js";
import { fileName, oneLine } from "../formats.js";
import { html, icon, useEffect, useRef, useState } from "../html.js";
import { libraries } from "../libraries.js";
import { save } from "../../saving.js";

const HEIGHT = 320;
const REST_MS = 250; // after the last letter of a filter
const VEGA = ["vega.min.js", "vega-lite.min.js", "vega-embed.min.js"];
const MARKS = { bar: "Bars", line: "Lines", area: "Areas", point: "Points" };
const NO_COLOUR = "(none)";
const LINES = "rgb(128 128 128 / 0.35)"; // on any ground, also as a picture

// In the page's own colours, so that a change of its theme needs no other drawing.
const styleOf = (element) => {
  const { fontFamily } = getComputedStyle(element);
  const colours = getComputedStyle(element).getPropertyValue("--st-chart-categorical-colors").split(",").filter(Boolean);
  const words = { labelColor: "currentColor", titleColor: "currentColor" };
  return {
    background: "transparent",
    font: fontFamily,
    axis: { ...words, gridColor: LINES, domainColor: LINES, tickColor: LINES },
    legend: words,
    title: { color: "currentColor", subtitleColor: "currentColor" },
    view: { stroke: null },
    ...(colours.length && { mark: { color: colours[0] }, range: { category: colours } }),
  };
};

const Choice = ({ label, value, options, choose, named = oneLine }) => html`
  <label class="cq-small">${label}
    <select value=${value} onChange=${({ currentTarget }) => choose(currentTarget.value)}>
      ${options.map((one) => html`<option key=${one} value=${one}>${named(one)}</option>`)}
    </select>
  </label>`;

/** @param {{choices: import("../types.js").Choices, choose: (chosen: object) => void}} given */
const ChoicesOf = ({ choices: { mark, x, y, colour, columns, values }, choose }) => html`
  <div class="cq-line cq-choices">
    <${Choice} label="Chart" value=${mark} options=${Object.keys(MARKS)} named=${(one) => MARKS[one]} choose=${(one) => choose({ mark: one })} />
    <${Choice} label="X axis" value=${x} options=${columns} choose=${(one) => choose({ x: one })} />
    <${Choice} label="Value" value=${y} options=${values} choose=${(one) => choose({ y: one })} />
    <${Choice} label="Colour" value=${colour ?? ""} options=${["", ...columns]} named=${(one) => oneLine(one) || NO_COLOUR}
      choose=${(one) => choose({ colour: one })} />
  </div>`;

/** @param {{path: string, table: import("../types.js").Table, containing: string, conversation: import("../store.js").Conversation}} given */
export const Chart = ({ path, table, containing, conversation }) => {
  const place = useRef(null);
  const view = useRef(null);
  const [chosen, choose] = useState({});
  const [{ choices, told }, know] = useState({ choices: null, told: "" });
  const [problem, tell] = useState("");
  const title = oneLine(table.title || "Chart", 120);
  useEffect(() => {
    let isGone = false;
    const draw = async () => {
      const params = { format: "chart", locale: conversation.reader.language, containing: containing || null, ...chosen };
      const [chart] = await Promise.all([read(path, params), libraries(...VEGA)]);
      if (isGone) return;
      const spec = { width: "container", height: chart.height ?? HEIGHT, ...chart.spec };
      spec.config = { ...styleOf(place.current), ...spec.config };
      // The interpreter: the pages allow no code from texts.
      const drawn = await window.vegaEmbed(place.current, spec, { ast: true, renderer: "svg", actions: false });
      if (isGone) return drawn.finalize();
      view.current?.finalize();
      view.current = drawn;
      place.current.style.minHeight = "";
      place.current.setAttribute("aria-label", [title, ...chart.notes].join(". "));
      know(chart);
      tell("");
    };
    const timer = setTimeout(() => draw().catch((error) => {
      if (!isGone) tell(error instanceof Problem ? error.message : "This chart cannot be drawn.");
      if (!(error instanceof Problem)) console.error(error);
    }), containing ? REST_MS : 0);
    return () => {
      isGone = true;
      clearTimeout(timer);
    };
  }, [path, containing, chosen]);
  useEffect(() => () => view.current?.finalize(), []);
  const keep = (ending) => async () => {
    const { view: drawn } = view.current;
    const name = fileName(table.title, ending);
    if (ending === "svg") return save(new Blob([await drawn.toSVG()], { type: "image/svg+xml" }), name);
    const canvas = await drawn.toCanvas(2);
    canvas.toBlob((blob) => save(blob, name));
  };
  return html`
    ${choices && html`<${ChoicesOf} choices=${choices} choose=${(one) => choose({ ...chosen, ...one })} />`}
    ${told && html`<p class="cq-small">${icon("info")} ${oneLine(told, 500)}</p>`}
    ${problem && html`<p class="cq-small" role="alert">${icon("info")} ${problem}</p>`}
    <div ref=${place} class="cq-chart" style=${{ minHeight: `${HEIGHT}px` }} role="img" aria-label=${title}></div>
    <div class="cq-line cq-pictures">${[["svg", "SVG"], ["png", "PNG"]].map(([ending, name]) => html`
      <button type="button" class="colloquy-text-button" onClick=${keep(ending)}>Download as ${name}</button>`)}</div>`;
};
