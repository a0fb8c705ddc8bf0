// Looks again and again whether something has changed elsewhere: every few seconds while somebody is
// at the page, less often when nobody has touched it for a minute, and at once when they come back.

const LOOK_MS = 4_000;
const QUIET_AFTER_MS = 60_000;
const QUIET_LOOK_MS = 30_000;
const TOUCHES = ["pointerdown", "pointermove", "keydown", "wheel", "focus"];

const looks = /** @type {Set<() => void>} */ (new Set());
let touchedAt = performance.now();

const isQuiet = () => performance.now() - touchedAt > QUIET_AFTER_MS;
const lookNow = () => looks.forEach((look) => look());
const touched = () => {
  const wasQuiet = isQuiet();
  touchedAt = performance.now();
  if (wasQuiet) lookNow();
};
const seen = () => document.hidden || lookNow();

/** Call `look` until the returned function is called, also while it fails; not while the page is hidden.
 * @param {() => unknown} look @param {() => number} [every] milliseconds, while somebody is at the page
 * @returns {() => void} */
export const keepLooking = (look, every = () => LOOK_MS) => {
  let timer = 0;
  let isLooking = false;
  const wait = () => {
    const ms = every();
    timer = window.setTimeout(go, isQuiet() && ms >= LOOK_MS ? QUIET_LOOK_MS : ms); // what is awaited stays urgent
  };
  const go = async () => {
    if (isLooking) return;
    clearTimeout(timer);
    isLooking = true;
    try {
      if (!document.hidden) await look();
    } finally {
      isLooking = false;
      if (looks.has(go)) wait();
    }
  };
  if (!looks.size) listen("addEventListener");
  looks.add(go);
  wait();
  return () => {
    clearTimeout(timer);
    looks.delete(go);
    if (!looks.size) listen("removeEventListener");
  };
};

/** @param {"addEventListener" | "removeEventListener"} how */
const listen = (how) => {
  for (const touch of TOUCHES) window[how](touch, touched, { capture: true, passive: true });
  document[how]("visibilitychange", seen);
};
