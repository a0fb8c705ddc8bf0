// A button that saves the chart in a container as SVG, as the browser has drawn it.
import { save } from "./saving.js";

const LABEL = "Download as SVG";
const drawn = (svg) => new Blob([new XMLSerializer().serializeToString(svg)], { type: "image/svg+xml" });

export const mount = ({ parentElement, data }) => {
  const button = parentElement.querySelector("button");
  button.textContent = LABEL;
  button.onclick = () => {
    const svg = document.querySelector(`.st-key-${CSS.escape(data.place)} svg.marks`);
    if (svg) save(drawn(svg), data.name);
    else button.textContent = "Too many points for SVG. Download it as PNG.";
  };
};
