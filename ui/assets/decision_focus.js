// Keeps the keyboard in the calls that wait for approval. The button that was pressed gives way to
// the fields of its decision, or disappears with the card: the focus moves to the first field, from
// there back to the button, and from a decided call to the next one. That gets it as a whole, since
// an Enter pressed twice must not decide two calls. After the last call it moves to the composer.
(() => {
  if (window.colloquyDecisionFocus) return;
  window.colloquyDecisionFocus = true;
  const BUTTON = /^st-key-call-(approve|edit|reject|respond|send|back)-(.+)$/;
  const DECIDING = ["approve", "edit", "reject", "respond", "send"];
  const FIELD = ':is(textarea, input:not([type="checkbox"]))';
  const COMPOSER = '[class*="st-key-composer-"] textarea';
  const PAGE = '[data-testid="stMainBlockContainer"]';
  const opened = new Map(); // by call, whose fields are open: the action that opened them

  const find = (selector) => window.colloquyKeys.current(selector);

  const partsOf = (button) => {
    const names = [...(button.closest('[class*="st-key-call-"]')?.classList ?? [])];
    return names.map((name) => BUTTON.exec(name)).find(Boolean)?.slice(1) ?? [];
  };

  /** Return the calls that wait for a decision, in the order of the page. */
  const waitingCalls = () => {
    const parts = [...document.querySelectorAll('[class*="st-key-call-"] button')].map(partsOf);
    return [...new Set(parts.filter(([action]) => DECIDING.includes(action)).map(([, call]) => call))];
  };

  /** Return what finds the next card, or what follows the last one, once `call` is decided. */
  const afterDecision = (call) => {
    const later = waitingCalls();
    later.splice(0, later.indexOf(call) + 1);
    return () => {
      const waiting = waitingCalls();
      if (waiting.includes(call)) return null;
      const next = [...later, ...waiting].find((one) => waiting.includes(one));
      const heir = next ? find(`.st-key-call-${next}`) : find(COMPOSER) ?? find(PAGE);
      if (heir && !heir.matches(COMPOSER)) heir.tabIndex = -1;
      return heir;
    };
  };

  const fieldsOf = (call) => () => find(`.st-key-call-${call} ${FIELD}`);
  const openerOf = (call) => () => find(`.st-key-call-${opened.get(call) ?? "approve"}-${call} button`);

  document.addEventListener("click", ({ target, detail }) => {
    const button = target.closest?.("button");
    if (detail !== 0 || !button) return; // 0: by key, not by pointer
    const [action, call] = partsOf(button);
    const { focusFrom } = window.colloquyKeys;
    // Not once it is gone: Streamlit may use the button that had the focus for another.
    if (action === "approve" || action === "send") focusFrom(button, afterDecision(call));
    else if (action === "back") focusFrom(button, openerOf(call));
    else if (action) {
      opened.set(call, action);
      focusFrom(button, fieldsOf(call));
    }
  }, true);
})();
