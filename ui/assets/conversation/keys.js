// Keys that press a button wherever the focus is: each button names its own in `aria-keyshortcuts`.
const LAYERS = 'dialog[open], [role="dialog"], [role="alertdialog"], [role="menu"], [role="listbox"]';
const FIELDS = 'input:not([type="checkbox"], [type="radio"], [type="range"]), textarea, select, [contenteditable="true"]';
const COMPOSER = ".cq-composer *"; // Escape stops the turn from there, too
const PLAIN = ["Escape", "?"];

/** The keys as `aria-keyshortcuts` writes them, of those that buttons may name.
 * @param {Pick<KeyboardEvent, "key" | "ctrlKey" | "metaKey" | "shiftKey" | "altKey">} event */
export const named = ({ key, ctrlKey, metaKey, shiftKey, altKey }) => {
  if (altKey) return "";
  if (ctrlKey || metaKey) return key?.length === 1 ? `Control+${shiftKey ? "Shift+" : ""}${key.toUpperCase()}` : "";
  return PLAIN.includes(key) ? key : "";
};

const isVisible = (element) => element.getClientRects().length > 0;

/** Whether Escape or ? closes no layer and is no field's own. @param {Element} target */
export const isFree = (keys, target) => {
  if ([...document.querySelectorAll(LAYERS)].some(isVisible)) return false;
  const isWriting = target.matches?.(FIELDS);
  if (isWriting && !(keys === "Escape" && target.matches(COMPOSER))) return false;
  return !(keys === "Escape" && target.closest?.("[data-own-escape]"));
};

/** The button of these keys in the parts of the page that are ours. @param {string} keys */
const buttonOf = (keys) =>
  /** @type {HTMLButtonElement | undefined} */ ([...document.querySelectorAll(`.cq-root [aria-keyshortcuts~="${CSS.escape(keys)}"]`)].find(isVisible));

// In the capture phase, before any other listener: open layers have not been closed yet.
document.addEventListener("keydown", (event) => {
  const keys = named(event);
  const target = /** @type {Element} */ (event.target);
  if (!keys || event.repeat || event.isComposing) return;
  if (PLAIN.includes(keys) && !isFree(keys, target)) return;
  const button = buttonOf(keys);
  if (!button) return;
  event.preventDefault();
  button.click();
}, true);
