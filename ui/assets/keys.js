// Keys on every page. A key that belongs to an input method does nothing else. Escape also closes a
// dialog whose focused element has disappeared, since the dialog then receives no key events. Ctrl+K
// moves the focus to the search field of the page that it opens, and a button that is pressed by key
// into what it opens, which stands at the end of the document.
(() => {
  if (window.colloquyKeys) return;
  const SEARCH = ".st-key-q input";
  const OPENER = '.stPopover button[aria-expanded="false"]';
  const OPENED = '[role="dialog"][data-st-overlay-root]';
  const CLOSE_DIALOG = '[role="dialog"] button[aria-label="Close"]';
  const INPUT_METHOD = 229;
  const LOOK_MS = 50;
  const MOST_MS = 10_000; // until the field is drawn

  // Such as the Enter that accepts a Japanese word. Safari sends it after the composition has ended,
  // so that `isComposing` is false: the code says it in all browsers. On the window, before all other
  // listeners.
  window.addEventListener("keydown", (event) => {
    if (event.keyCode === INPUT_METHOD) event.stopImmediatePropagation();
  }, true);

  /** Call `move` with what `find` returns, as soon as it returns something. */
  const soon = (find, move) => {
    const until = performance.now() + MOST_MS;
    const look = () => {
      const found = find();
      if (found) move(found);
      else if (performance.now() < until) setTimeout(look, LOOK_MS);
    };
    look();
  };
  const focusSoon = (find) => soon(find, (field) => field.focus());

  /** Move the focus to what `find` returns once `gone`, which has it, is no longer on the page; not
      if the focus has moved elsewhere by then. */
  const focusAfter = (gone, find) => {
    const isElsewhere = () => ![gone, document.body].includes(document.activeElement);
    soon(
      () => isElsewhere() || (gone.isConnected ? null : find()),
      (heir) => heir === true || heir.focus(),
    );
  };

  window.colloquyKeys = { focusAfter };

  document.addEventListener("keydown", ({ key, ctrlKey, metaKey, shiftKey, altKey, target }) => {
    const isControl = (ctrlKey || metaKey) && !altKey && !shiftKey;
    if (isControl && key?.toLowerCase() === "k") focusSoon(() => document.querySelector(SEARCH));
    if (key === "Escape" && target === document.body) document.querySelector(CLOSE_DIALOG)?.click();
  }, true);

  document.addEventListener("click", ({ target, detail }) => {
    const button = target.closest?.("button");
    if (detail !== 0 || button !== document.activeElement || !button?.matches(OPENER)) return; // 0: by key
    focusSoon(() => {
      const opened = document.querySelector(OPENED);
      if (opened) opened.tabIndex = -1;
      return opened;
    });
  }, true);
})();
