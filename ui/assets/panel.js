// The panel beside the chat: its name for screen readers, the room beside it, and the focus, which goes
// to it when something is opened there and back when it is closed.
const NARROW = matchMedia("(max-width: 1099px)"); // there it covers the page: `styles/panel.css`
const LAYERS = '[role="listbox"], [role="menu"]';
let shown = null; // the open panel: its element, how often it was opened, and what had the focus before

const name = () => {
  if (!shown) return;
  const { panel } = shown;
  panel.setAttribute("role", NARROW.matches ? "dialog" : "complementary");
  panel.toggleAttribute("aria-modal", NARROW.matches);
  if (NARROW.matches) panel.setAttribute("aria-modal", "true");
  panel.setAttribute("aria-label", "Artifacts");
  panel.tabIndex = -1;
};

const closeButton = () => shown?.panel.querySelector('[class*="st-key-panel-close"] button');

const key = (event) => {
  if (event.key !== "Escape" || shown?.panel.getAttribute("role") !== "dialog" || document.querySelector(LAYERS)) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  closeButton()?.click();
};

const open = (panel, openings) => {
  const isNew = shown?.openings !== openings;
  const from = document.activeElement;
  const before = isNew && !panel.contains(from) && from !== document.body ? from : shown?.from;
  shown = { panel, openings, from: before };
  document.body.toggleAttribute("data-colloquy-panel", true);
  name();
  if (!isNew) return;
  panel.focus({ preventScroll: true });
  // The chat has become narrower: keep what was pressed in view.
  requestAnimationFrame(() => before?.scrollIntoView({ block: "nearest" }));
};

const close = () => {
  if (!shown || shown.panel.isConnected) return;
  document.body.toggleAttribute("data-colloquy-panel", false);
  if (shown.from?.isConnected && [document.body, null].includes(document.activeElement)) shown.from.focus();
  shown = null;
};

NARROW.addEventListener("change", name);
addEventListener("keydown", key, true);

export const mount = ({ data, parentElement }) => {
  const panel = parentElement.closest('[class*="st-key-side-panel"]');
  if (panel) open(panel, data.openings);
  return () => setTimeout(close);
};
