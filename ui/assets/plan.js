// The picture of a plan: a button for each task, with lines between them. It is updated in place, so
// that focus and scroll position are kept.
const SVG = "http://www.w3.org/2000/svg";
const drawn = new WeakMap(); // the buttons of a picture, by task id

const draw = (button, task, chosen) => {
  const [name, state] = button.children;
  const said = `${task.sign} ${task.word}`;
  if (name.textContent !== task.name) name.textContent = task.name;
  state.textContent = `${said} · ${task.agent}`;
  button.title = `${task.name} (${task.agent}): ${task.word}`;
  button.setAttribute("aria-label", `${task.name}, ${task.agent}, ${task.word}`);
  button.setAttribute("aria-pressed", String(task.id === chosen));
  Object.assign(button.dataset, { colour: task.colour, status: task.status });
  Object.assign(button.style, { left: `${task.x}px`, top: `${task.y}px` });
};

const make = (data) => {
  const button = document.createElement("button");
  button.type = "button";
  button.append(document.createElement("span"), document.createElement("span"));
  Object.assign(button.style, { width: `${data.nodeWidth}px`, height: `${data.nodeHeight}px` });
  return button;
};

export const mount = ({ data, parentElement, setTriggerValue }) => {
  const plan = parentElement.querySelector(".colloquy-plan");
  const [canvas] = plan.children;
  const [lines] = canvas.children;
  plan.setAttribute("aria-label", data.label);
  Object.assign(canvas.style, { width: `${data.width}px`, height: `${data.height}px` });
  if (lines.childElementCount !== data.lines.length) {
    lines.setAttribute("width", data.width);
    lines.setAttribute("height", data.height);
    lines.replaceChildren(...data.lines.map((line) => {
      const path = document.createElementNS(SVG, "path");
      path.setAttribute("d", line);
      return path;
    }));
  }
  if (!drawn.has(plan)) drawn.set(plan, new Map());
  const buttons = drawn.get(plan);
  for (const task of data.tasks) {
    if (!buttons.has(task.id)) buttons.set(task.id, canvas.appendChild(make(data)));
    const button = buttons.get(task.id);
    draw(button, task, data.chosen);
    button.onclick = () => setTriggerValue("chosen", task.id);
  }
};
