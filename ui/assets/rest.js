// Whether the page has finished what was last asked of it. Streamlit reports a run only once its
// server has started it: until then only the click itself is known, or the pending acts of the
// session list.
const CLICK_MS = 600; // within which the run of a click begins
const LOOK_MS = 20;
const MOST_MS = 10_000;
// A click here does not go to the server, or is handled by our own scripts.
const COMPOSER = '[class*="st-key-composer-"]';

const isAtRest = () =>
  document.querySelector('[data-testid="stApp"]')?.dataset.testScriptState === "notRunning";

let clickedAt = -CLICK_MS;
document.addEventListener("click", ({ target }) => {
  if (!target.closest?.(COMPOSER)) clickedAt = performance.now();
}, true);

/** Whether no run is active and no click is in flight. */
export const isSettled = () => {
  if (!isAtRest()) {
    clickedAt = -CLICK_MS;
    return false;
  }
  return performance.now() - clickedAt > CLICK_MS && !document.body.dataset.colloquyActing;
};

/** Whether a dialog is open, which a redraw would close. */
export const hasDialog = () => document.querySelector('[data-testid="stDialog"]') !== null;

/** Whether the page may redraw itself. */
export const mayRedraw = () => isSettled() && !hasDialog();

/** Wait until the page is settled, up to a limit. */
export const settled = async () => {
  const until = performance.now() + MOST_MS;
  const look = () => new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  while (!isSettled() && performance.now() < until) await look();
  await look(); // the latest drawing has reported what it shows
};
