// Making elements, and changing only what differs in them.
export function make(tag, className, text = null, attributes = {}) {
  const element = document.createElement(tag);
  element.className = className;
  if (text !== null) element.textContent = text;
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}

export function makeButton(className, text, attributes = {}) {
  return make("button", className, text, { type: "button", ...attributes });
}

// Sets only what differs: setting an unchanged attribute still costs the browser work.
export function setAttribute(element, name, value) {
  if (value === null) {
    if (element.hasAttribute(name)) element.removeAttribute(name);
  } else if (element.getAttribute(name) !== value) element.setAttribute(name, value);
}

export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

export function arrange(parent, wanted) {
  const staying = new Set(wanted);
  for (const child of [...parent.children]) if (!staying.has(child)) child.remove();
  wanted.forEach((child, place) => {
    if (parent.children[place] !== child) parent.insertBefore(child, parent.children[place] ?? null);
  });
}
