// A press counts for the control that it began on. Text that streams in may move a control between
// the two halves of a click; the browser then gives the click to what surrounds both places, where
// nothing handles it.
(() => {
  if (window.colloquyPresses) return;
  window.colloquyPresses = true;
  const CONTROL = 'button, a[href], label, summary, [role="button"], [role="menuitem"], '
    + '[role="option"], [role="radio"], [role="tab"], input[type="checkbox"], input[type="radio"]';
  const SAME_PLACE = 4; // pixels: a pointer that was moved further takes its press back
  let pressed = null;

  document.addEventListener("pointerdown", (event) => {
    const [node] = event.composedPath(); // within a component, `target` is the component
    const control = event.button === 0 && node.closest?.(CONTROL);
    pressed = control ? { node, control, x: event.clientX, y: event.clientY } : null;
  }, true);

  document.addEventListener("pointerup", (event) => {
    const { node, control, x, y } = pressed ?? {};
    pressed = null;
    if (!control || event.composedPath().includes(control)) return;
    if (Math.hypot(event.clientX - x, event.clientY - y) > SAME_PLACE) return;
    // After the browser's own click, which closes what a click elsewhere closes.
    setTimeout(() => node.isConnected && node.dispatchEvent(new MouseEvent("click", event)));
  }, true);
})();
