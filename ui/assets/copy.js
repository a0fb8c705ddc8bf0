// A button that copies a text in one click and then shows a tick.
const SVG = "http://www.w3.org/2000/svg";
const COPY = "M9 3h9a2 2 0 0 1 2 2v11h-2V5H9zM6 7h8a2 2 0 0 1 2 2v10a2 2 0 0 1-2 2H6"
  + "a2 2 0 0 1-2-2V9a2 2 0 0 1 2-2zm0 2v10h8V9z";
const TICK = "M9.5 16.6 4.9 12l-1.4 1.4 6 6L21 7.9l-1.4-1.4z";
const SHOWN_MS = 2_000;

/** Copy a text, also where the browser has no clipboard for pages without HTTPS. */
export const write = async (text) => {
  if (navigator.clipboard && window.isSecureContext) {
    await navigator.clipboard.writeText(text);
    return;
  }
  const area = document.createElement("textarea");
  area.value = text;
  area.style.position = "fixed";
  area.style.opacity = "0";
  document.body.append(area);
  area.select();
  const isDone = document.execCommand("copy");
  area.remove();
  if (!isDone) throw new Error("copy");
};

const draw = (button, path, said, label) => {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("fill", "currentColor");
  svg.setAttribute("aria-hidden", "true");
  const shape = document.createElementNS(SVG, "path");
  shape.setAttribute("d", path);
  svg.append(shape);
  button.querySelector(".sign").replaceChildren(svg);
  button.querySelector(".said").textContent = said;
  button.setAttribute("aria-label", said || label);
  button.title = label;
};

export const mount = ({ parentElement, data }) => {
  const button = parentElement.querySelector("button");
  const rest = () => draw(button, COPY, data.said, data.label);
  let timer = 0;
  rest();
  button.onclick = async () => {
    try {
      await write(data.text);
      draw(button, TICK, "Copied", data.label);
    } catch {
      draw(button, COPY, "Not allowed by this browser", data.label);
    }
    clearTimeout(timer);
    timer = setTimeout(rest, SHOWN_MS);
  };
  return () => clearTimeout(timer);
};
