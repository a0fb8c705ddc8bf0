// Asks before a domain's form is left with changes that are not saved, by a reload or another
// address: Streamlit forgets them then.
(() => {
  if (window.colloquyUnsaved) return;
  window.colloquyUnsaved = true;
  const FORM = '[class*="st-key-domain-"][class*="-save"]'; // its button
  const CHANGED = '[class*="st-key-domain-"][class*="-discard"]'; // drawn where there are changes
  const TYPING = '[data-testid="InputInstructions"]'; // has a text where one is not applied yet

  window.addEventListener("beforeunload", (event) => {
    const isTyping = [...document.querySelectorAll(TYPING)].some((one) => one.textContent);
    if (document.querySelector(CHANGED) || (isTyping && document.querySelector(FORM))) event.preventDefault();
  });
})();
