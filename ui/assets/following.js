// Keeps a chat at its end, in the frame in which it grows, until the reader scrolls away. Streamlit
// follows some frames later, so that what is below a streaming answer would jump with each line, and
// it takes back a reader who scrolls up while text streams in. Here it is kept from scrolling.
(() => {
  if (window.colloquyFollowing) return;
  const VIEW = '[data-testid="stAppScrollToBottomContainer"]';
  const PARTS = `${VIEW}, ${VIEW} [data-testid="stMainBlockContainer"], ${VIEW} [data-testid="stBottom"]`;
  const LINKED = '[class*="st-key-hit-"]';
  const NEW_CHAT = ".st-key-opening"; // read from its top, also where it is higher than the window
  const OPENING = "details:not([open]) > summary";
  const INPUTS = ["wheel", "touchmove", "keydown", "pointerdown"];
  const KEYS_UP = ["ArrowUp", "PageUp", "Home"];
  const INPUT_MS = 1000; // within which a reader's input scrolls
  const LOOK_MS = 150;
  const OPEN_MS = 10_000; // within which a page is opened; some have no chat
  const own = (name) => Object.getOwnPropertyDescriptor(Element.prototype, name).get;
  const topOf = own("scrollTop");
  const heightOf = own("scrollHeight");
  let view = null;
  let end = 0; // as it was drawn last
  let isAtEnd = true;
  let inputAt = -INPUT_MS;

  const currentEnd = () => heightOf.call(view) - view.clientHeight;
  const isNew = () => Boolean(document.querySelector(NEW_CHAT)?.checkVisibility());
  const toEnd = () => {
    isAtEnd = true;
    view?.scrollTo(0, isNew() ? 0 : currentEnd());
  };

  // A session was opened: it is read from its end, unless a link leads to one of its messages.
  const open = () => document.querySelector(LINKED) || toEnd();

  const follow = new ResizeObserver(() => {
    if (window.colloquyPlaces.held) isAtEnd = view.scrollTop > currentEnd() - 1;
    else if (isAtEnd && !isNew()) toEnd();
    end = currentEnd();
  });

  const on = (event, act) => document.addEventListener(event, act, { capture: true, passive: true });
  const mayScrollUp = ({ type, deltaY, key, target }) =>
    type === "touchmove" || deltaY < 0 || KEYS_UP.includes(key)
    || (type === "pointerdown" && target === view); // its scrollbar
  for (const name of INPUTS) on(name, (event) => mayScrollUp(event) && (inputAt = performance.now()));
  // A page that has changed since it was drawn may have scrolled by itself: it was cut, or grew on.
  on("scroll", ({ target }) => {
    if (target !== view || isNew()) return;
    const isThere = view.scrollTop > Math.min(end, currentEnd()) - 1;
    const isMeant = end === currentEnd() || window.colloquyPlaces.held
      || performance.now() - inputAt < INPUT_MS;
    if (isThere || isMeant) isAtEnd = isThere;
  });
  // What a reader opens stays where it is and grows downwards.
  on("click", ({ target }) => {
    if (target.closest?.(OPENING)) isAtEnd = false;
  });

  const takeOver = (found) => {
    view = found;
    isAtEnd = true;
    // Streamlit scrolls by the first property alone; our scripts call `scrollTo` and `scrollBy`. By
    // the second it finds itself at the end; otherwise, it would try again and again.
    Object.defineProperties(view, {
      scrollTop: { get: topOf, set() {} },
      scrollHeight: { get() { return this.scrollTop + this.offsetHeight; } },
    });
  };

  const look = () => {
    const found = document.querySelector(VIEW);
    if (found && found !== view) takeOver(found);
    const parts = document.querySelectorAll(PARTS);
    for (const part of parts) follow.observe(part);
    return parts.length > 1;
  };
  // A page that is being opened is at its end from its first frame; later there is no hurry.
  const lookAtOnce = (now) => look() || (now < OPEN_MS && requestAnimationFrame(lookAtOnce));
  requestAnimationFrame(lookAtOnce);
  setInterval(look, LOOK_MS);
  window.colloquyFollowing = { open, toEnd };
})();
