// Keys on every page: Escape stops the running turn or, in the editing field, cancels the edit; ?
// opens the list of shortcuts. Each presses the button that does the same. Escape also closes a
// dialog whose focused element has disappeared, since the dialog then receives no key events. Edit
// moves the focus to the editing field, New Chat to its composer, Ctrl+K to the search field of the
// page that it opens, and a button that is pressed by key into what it opens, which stands at the
// end of the document. Where what had the focus disappears from a chat, the focus stays beside it or
// goes to the composer; it would be lost.
(() => {
  if (window.colloquyKeys) return;
  const LAYERS = '[role="dialog"], [role="alertdialog"], [role="menu"], [role="listbox"], '
    + '[data-testid="stPopoverBody"], [data-testid="stFullScreenFrame"] [aria-label="Close fullscreen"]';
  const FIELDS = 'input:not([type="checkbox"], [type="radio"], [type="range"]), textarea, select, [contenteditable="true"]';
  const OWN_ESCAPE = '[data-testid="stDataFrame"], .sessions:has(.selection:not([hidden]))';
  const COMPOSER = '[class*="st-key-composer-"] textarea';
  const EDIT = '[class*="st-key-actions-"] [class*="st-key-edit-"] button';
  const EDITOR = '[class*="st-key-edit-text-"] textarea';
  const CANCEL_EDIT = '[class*="st-key-actions-"] [class*="st-key-cancel-"] button';
  const ENDS = ["stop", "retry", "another"].map((name) => `[class*="st-key-${name}-"] button`).join(", ");
  const VERSIONS = '[class*="st-key-icons-versions-"]';
  const SEARCH = ".st-key-q input";
  const NEW_CHAT = ".st-key-new-chat button";
  const OPENER = '[data-testid="stPopoverButton"][aria-expanded="false"]';
  const OPENED = '[data-testid="stPopoverBody"]';
  const CHAT_INPUT = '[data-testid="stChatInput"]';
  const INPUT_METHOD = 229;
  const ENTER = 13;
  const LOOK_MS = 50;
  const MOST_MS = 10_000; // until the field is drawn
  const CLOSE_DIALOG = '[data-testid="stDialog"] button[aria-label="Close"]';

  // A key that belongs to an input method, such as the Enter that accepts a Japanese word, does nothing
  // else. Safari sends it after the composition has ended, so that `isComposing` is false: the code
  // says it in all browsers. On the window, before all other listeners.
  window.addEventListener("keydown", (event) => {
    if (event.keyCode === INPUT_METHOD) event.stopImmediatePropagation();
  }, true);

  // Ctrl+Enter sends as Enter does, also in the editing field and with files, where Streamlit would
  // do nothing.
  window.addEventListener("keydown", (event) => {
    const { key, ctrlKey, metaKey, shiftKey, altKey, target } = event;
    if (key !== "Enter" || !(ctrlKey || metaKey) || shiftKey || altKey || event.isComposing) return;
    if (!target.closest?.(CHAT_INPUT)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    const enter = { key, code: "Enter", keyCode: ENTER, repeat: event.repeat, bubbles: true, cancelable: true };
    target.dispatchEvent(new KeyboardEvent("keydown", enter));
  }, true);

  const isVisible = (one) => one.getClientRects().length > 0;
  const visible = (selector) => [...document.querySelectorAll(selector)].find(isVisible);
  /** Return what matches and is drawn by the latest run; the rest stays on the page until it ends. */
  const current = (selector) =>
    [...document.querySelectorAll(selector)].find((one) => !one.closest('[data-stale="true"]'));
  const press = (selector) => {
    const button = visible(selector);
    button?.click();
    return Boolean(button);
  };

  /** Move the focus to the field that `find` returns as soon as it is drawn. */
  const focusSoon = (find) => {
    const until = performance.now() + MOST_MS;
    const look = () => {
      const field = find();
      if (field) field.focus();
      else if (performance.now() < until) setTimeout(look, LOOK_MS);
    };
    look();
  };

  /** Move the focus from `element` to what `find` returns, as soon as it returns something; not if
      the focus has moved elsewhere by then. */
  const focusFrom = (element, find) => {
    const until = performance.now() + MOST_MS;
    const look = () => {
      if (![element, document.body].includes(document.activeElement)) return;
      const heir = find();
      if (heir) heir.focus();
      else if (performance.now() < until) setTimeout(look, LOOK_MS);
    };
    look();
  };

  /** Move the focus to what `find` returns once `gone`, which has it, is no longer on the page. */
  const focusAfter = (gone, find) => focusFrom(gone, () => (gone.isConnected ? null : find()));

  window.colloquyKeys = { current, focusAfter, focusFrom };

  const composer = () => visible(COMPOSER);

  /** Return what finds the Edit button of the message in whose line `element` is. */
  const editBeside = (element) => {
    const line = element.closest('[class*="st-key-cancel-"], [class*="st-key-edit-text-"]');
    const [, id] = /st-key-(?:cancel|edit-text)-(\S+)/.exec(line.className);
    return () => visible(`.st-key-edit-${id} button`);
  };

  /** Return what finds the button that leads to a further version of the same message. */
  const versionAt = (button) => {
    const place = [...document.querySelectorAll(VERSIONS)].indexOf(button.closest(VERSIONS));
    const isLater = button.closest('[class*="st-key-later-"]') !== null;
    return () => {
      const versions = document.querySelectorAll(VERSIONS)[place];
      const further = [...(versions?.querySelectorAll("button:enabled") ?? [])].filter(isVisible);
      return isLater ? further.at(-1) : further[0];
    };
  };

  /** Move the focus to the composer of a new chat, unless another field is written in by then. */
  const focusNewChat = () => {
    if (!window.matchMedia("(pointer: fine)").matches) return; // it would open the phone's keyboard
    focusSoon(() => {
      const active = document.activeElement;
      if (active?.matches(FIELDS) && !active.matches(COMPOSER)) return active;
      if (new URLSearchParams(location.search).has("session")) return null; // it is still to come
      const area = composer();
      return area && window.colloquyDrafts.isOfNewChat(area) ? area : null;
    });
  };

  /** Move the focus into what a button opens. */
  const focusOpened = () => focusSoon(() => {
    const opened = document.querySelector(OPENED);
    if (opened) opened.tabIndex = -1;
    return opened;
  });

  // In the capture phase, before any other listener: open layers have not been closed yet.
  document.addEventListener("keydown", (event) => {
    const { key, target } = event;
    if (!["Escape", "?"].includes(key) || event.repeat) return;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (key === "Escape" && target === document.body && press(CLOSE_DIALOG)) return;
    if ([...document.querySelectorAll(LAYERS)].some(isVisible)) return;
    const isWriting = target.matches?.(FIELDS);
    if (key === "?" && !isWriting) {
      if (press(".st-key-shortcuts button")) event.preventDefault();
    } else if (key === "Escape" && target.matches?.(EDITOR)) {
      focusAfter(target, editBeside(target));
      press(CANCEL_EDIT);
    } else if (key === "Escape" && (!isWriting || target.matches(COMPOSER))) {
      if (target.closest?.(OWN_ESCAPE)) return;
      if (!press('[class*="st-key-stop-"] button')) window.colloquyLive?.stopSoon();
    }
  }, true);

  // The button that had the focus disappears, or what it leads to is to be written in at once.
  document.addEventListener("click", ({ target, detail }) => {
    if (target.closest?.(EDIT)) focusSoon(() => current(EDITOR));
    if (target.closest?.(NEW_CHAT)) focusNewChat();
    const button = target.closest?.("button");
    if (detail !== 0 || !button || button !== document.activeElement) return; // 0: by key, not by pointer
    if (button.matches(OPENER)) focusOpened();
    if (button.matches(ENDS)) focusAfter(button, composer);
    if (button.matches(CANCEL_EDIT)) focusAfter(button, editBeside(button));
    if (button.closest(VERSIONS)) focusAfter(button, versionAt(button));
  }, true);

  document.addEventListener("keydown", ({ key, shiftKey, target }) => {
    if (key === "Enter" && !shiftKey && target.matches?.(EDITOR)) focusAfter(target, composer);
  }, true);

  document.addEventListener("keydown", ({ key, ctrlKey, metaKey, shiftKey, altKey }) => {
    if (!(ctrlKey || metaKey) || altKey) return;
    const shortcut = `${shiftKey ? "shift " : ""}${key?.toLowerCase()}`;
    if (shortcut === "k") focusSoon(() => document.querySelector(SEARCH));
    if (shortcut === "shift o") focusNewChat();
  }, true);
})();
