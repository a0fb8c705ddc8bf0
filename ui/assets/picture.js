// A button that saves the chart in a container as SVG, as the browser has drawn it.
const LABEL = "Download as SVG";

const save = (svg, name) => {
  const text = new XMLSerializer().serializeToString(svg);
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1_000);
};

export const mount = ({ parentElement, data }) => {
  const button = parentElement.querySelector("button");
  button.textContent = LABEL;
  button.onclick = () => {
    const svg = document.querySelector(`.st-key-${CSS.escape(data.place)} svg.marks`);
    if (svg) save(svg, data.name);
    else button.textContent = "Too many points for SVG. Download it as PNG.";
  };
};
