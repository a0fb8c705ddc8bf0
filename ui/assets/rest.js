// Whether the page has done what was last asked of it. Streamlit says that it runs once its server
// has begun: a click before is known by the click alone, one in the session list by its acts.
const CLICK_MS = 600; // until the run of a click has begun
const BUTTON_MS = 30_000; // the same on a slow line, where a run follows for certain
const LOOK_MS = 20;
const MOST_MS = 10_000;
// A click here is no question to the server, or one that our own script takes.
const COMPOSER = '[class*="st-key-composer-"]';
const BUTTON = '[data-testid="stButton"] button, [data-testid="stPageLink-NavLink"]';

const isAtRest = () =>
  document.querySelector('[data-testid="stApp"]')?.dataset.testScriptState === "notRunning";

let clickedAt = -CLICK_MS;
let pressedAt = -BUTTON_MS;
document.addEventListener("click", ({ target }) => {
  if (!target.closest?.(COMPOSER)) clickedAt = performance.now();
  if (target.closest?.(BUTTON)) pressedAt = performance.now();
}, true);
new MutationObserver(() => isAtRest() || (pressedAt = -BUTTON_MS)).observe(document.body, {
  attributeFilter: ["data-test-script-state"], subtree: true,
});

/** Whether nothing runs, and nothing that was clicked is on its way. */
const isSettled = () => {
  if (!isAtRest()) {
    clickedAt = -CLICK_MS;
    return false;
  }
  return performance.now() - clickedAt > CLICK_MS && !document.body.dataset.colloquyActing;
};

/**
 * Whether the page may be drawn by itself. That closes a dialog: only where none is open. And it is
 * asked for by the address as the browser knows it: not before it has heard where a button led.
 */
export const mayRedraw = () =>
  isSettled()
  && performance.now() - pressedAt > BUTTON_MS
  && !document.querySelector('[data-testid="stDialog"]');

/** Wait until the page is settled, but not for ever. */
export const settled = async () => {
  const until = performance.now() + MOST_MS;
  const look = () => new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  while (!isSettled() && performance.now() < until) await look();
  await look(); // what was drawn last has told what it draws
};
