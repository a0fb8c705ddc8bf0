/** Return an element of ours: its class is the name with our prefix. */
export const make = (tag, name, text = "") => {
  const element = document.createElement(tag);
  element.className = `colloquy-${name}`;
  element.textContent = text;
  return element;
};
