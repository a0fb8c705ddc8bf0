// What was typed counts once its field is left. Streamlit 1.67 takes a field for left only when the
// focus leaves the whole widget: with Tab it moves to the button that shows the password, or with
// Shift+Tab to the one that explains the field, and what was typed is ignored from then on.
(() => {
  if (window.colloquyLeaving) return;
  window.colloquyLeaving = true;
  const FIELD = '.stTextInput';

  document.addEventListener("focusout", ({ target, relatedTarget, isTrusted }) => {
    if (!isTrusted || !target.matches?.("input") || !target.closest(FIELD)?.contains(relatedTarget)) return;
    target.dispatchEvent(new FocusEvent("focusout", { bubbles: true })); // as React hears of it
  }, true);
})();
