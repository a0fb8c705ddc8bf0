// Whether the page has done what was last asked of it. Streamlit says that it runs once its server
// has begun: a click before is known by the click alone, one in the session list by its acts.
const CLICK_MS = 600; // until the run of a click has begun
const LOOK_MS = 20;
const MOST_MS = 10_000;
// A click here is no question to the server, or one that our own script takes.
const COMPOSER = '[class*="st-key-composer-"]';

const isAtRest = () =>
  document.querySelector('[data-testid="stApp"]')?.dataset.testScriptState === "notRunning";

let clickedAt = -CLICK_MS;
document.addEventListener("click", ({ target }) => {
  if (!target.closest?.(COMPOSER)) clickedAt = performance.now();
}, true);

/** Whether nothing runs, and nothing that was clicked is on its way. */
const isSettled = () => {
  if (!isAtRest()) {
    clickedAt = -CLICK_MS;
    return false;
  }
  return performance.now() - clickedAt > CLICK_MS && !document.body.dataset.colloquyActing;
};

/** Whether the page may be drawn by itself, which closes a dialog: only where none is open. */
export const mayRedraw = () => isSettled() && !document.querySelector('[data-testid="stDialog"]');

/** Wait until the page is settled, but not for ever. */
export const settled = async () => {
  const until = performance.now() + MOST_MS;
  const look = () => new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  while (!isSettled() && performance.now() < until) await look();
  await look(); // what was drawn last has told what it draws
};
