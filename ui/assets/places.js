// Keeps the reader's position while the history around it changes, and scrolls to the message that
// a link points to. A page is drawn in pieces, so a position is held until the page is at rest.
(() => {
  if (window.colloquyPlaces) return;
  const LOOK_MS = 150;
  const REST_MS = 700; // without any movement: the page is then at rest
  const MOST_MS = 60000;
  const OFF_END = 4; // pixels
  const FAR = 1e9; // pixels: beyond the end of every page
  const HIT = '[class*="st-key-hit-"]';
  const SWITCH = '[class*="st-key-view-"]'; // between a table and its chart
  const ANCHOR = '[class*="st-key-actions-"]'; // the line under each message and answer
  const places = (window.colloquyPlaces = { held: null, seen: null, isPressed: false });
  // A page without a composer has the second, which is not kept at its end.
  const scroller = () =>
    document.querySelector('[data-testid="stAppScrollToBottomContainer"], [data-testid="stMain"]');
  const keyOf = (node) => [...node.classList].find((one) => one.startsWith("st-key-"));
  const isAtRest = () =>
    document.querySelector('[data-testid="stApp"]')?.dataset.testScriptState === "notRunning";
  const visible = (selector) =>
    [...document.querySelectorAll(selector)].filter((one) => one.offsetParent);

  const history = () => visible(ANCHOR).map(keyOf).join(" ");

  const hold = (place) => {
    const now = performance.now();
    places.held = { ...place, since: now, moved: now, frames: 0, history: history() };
    requestAnimationFrame(keep);
  };

  const keep = () => {
    if (places.isPressed) return requestAnimationFrame(keep); // or what is pressed moves away
    const { held } = places;
    const view = scroller();
    document.body.toggleAttribute("data-colloquy-held", Boolean(held?.isRoomy && held.frames++ > 2));
    if (!held || !view) return;
    const now = performance.now();
    const before = view.scrollTop;
    const node = held.key && visible(`.${CSS.escape(held.key)}`)[0];
    if (node) view.scrollBy(0, node.getBoundingClientRect().top - held.top);
    else if (!held.key) view.scrollTo(0, held.isFirst ? 0 : FAR);
    const isAsked = held.isAsked && held.history === history(); // and nothing new was drawn yet
    if (isAsked || !isAtRest() || Math.abs(view.scrollTop - before) > 1) held.moved = now;
    if (now - held.moved > REST_MS || now - held.since > MOST_MS) places.held = null;
    requestAnimationFrame(keep);
  };

  // Scrolling by the reader overrides a held position, and so does a click once it is made.
  const on = (events, act) => {
    for (const event of events) document.addEventListener(event, act, { capture: true, passive: true });
  };
  const release = () => Object.assign(places, { held: null, isPressed: false });
  on(["pointerdown"], () => (places.isPressed = true));
  on(["wheel", "touchmove", "keydown", "pointerup", "pointercancel"], release);
  // A scrollbar that is let go of ends without an event of its own.
  on(["pointermove"], ({ buttons }) => places.isPressed && !buttons && release());

  const topOf = (node) => node?.getBoundingClientRect().top;

  document.addEventListener("click", ({ target }) => {
    // What it shows is gone before the other is there: the page is shorter for a moment.
    const choice = target.closest?.(SWITCH);
    if (choice) return hold({ key: keyOf(choice), top: topOf(choice), isRoomy: true });
    const button = target.closest?.(".st-key-first, .st-key-earlier, .st-key-later, .st-key-latest");
    if (!button) return;
    if (button.classList.contains("st-key-latest")) return hold({ isAsked: true });
    // A page at its end is kept there; the room below keeps it from getting there.
    scroller().scrollBy(0, -OFF_END);
    if (button.classList.contains("st-key-first")) return hold({ isAsked: true, isFirst: true });
    const isAfter = (node) => button.compareDocumentPosition(node) & Node.DOCUMENT_POSITION_FOLLOWING;
    const anchors = visible(ANCHOR);
    const anchor = anchors.find(isAfter) ?? anchors.at(-1);
    if (anchor) hold({ key: keyOf(anchor), top: topOf(anchor), isRoomy: true, isAsked: true });
  }, true);

  setInterval(() => {
    const hit = visible(HIT)[0];
    if (!hit || places.seen === keyOf(hit) || !scroller()) return;
    places.seen = keyOf(hit);
    const view = scroller().getBoundingClientRect();
    hold({ key: places.seen, top: view.top + Math.max(80, (view.height - hit.offsetHeight) / 3) });
  }, LOOK_MS);
})();
