// A chart, as the API draws the table: Vega is loaded with the first one.
import { Problem, read } from "../api.js";
import { html, icon, useEffect, useRef, useState } from "../html.js";
import { libraries } from "../libraries.js";

const HEIGHT = 320;
const VEGA = ["vega.min.js", "vega-lite.min.js", "vega-embed.min.js"];

const styleOf = (element) => {
  const style = getComputedStyle(element);
  const [text, line] = [style.getPropertyValue("--st-text-color"), style.getPropertyValue("--st-border-color")];
  const words = { labelColor: text, titleColor: text, gridColor: line, domainColor: line, tickColor: line };
  return {
    background: "transparent",
    font: style.fontFamily,
    axis: words,
    legend: words,
    title: { color: text, subtitleColor: text },
    view: { stroke: null },
  };
};

export const Chart = ({ path, title, conversation }) => {
  const place = useRef(null);
  const [problem, tell] = useState("");
  useEffect(() => {
    let drawn = null, isGone = false;
    const draw = async () => {
      const params = { format: "chart", locale: conversation.reader.language };
      const [chart] = await Promise.all([read(path, params), libraries(...VEGA)]);
      if (isGone) return;
      const spec = { width: "container", height: chart.height ?? HEIGHT, ...chart.spec };
      spec.config = { ...styleOf(place.current), ...spec.config };
      // The interpreter: the pages allow no code from texts.
      drawn = await window.vegaEmbed(place.current, spec, { ast: true, renderer: "svg", actions: false });
      place.current.setAttribute("aria-label", [title, ...chart.notes].join(". "));
      if (isGone) drawn.finalize();
    };
    draw().catch((error) => {
      if (!isGone) tell(error instanceof Problem ? error.message : "This chart cannot be drawn.");
      if (!(error instanceof Problem)) console.error(error);
    });
    return () => {
      isGone = true;
      drawn?.finalize();
    };
  }, [path]);
  return html`
    ${problem && html`<p class="cq-small" role="alert">${icon("info")} ${problem}</p>`}
    <div ref=${place} class="cq-chart" role="img" aria-label=${title}></div>`;
};
