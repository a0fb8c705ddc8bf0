// Asks before a page is left, by a reload or another address, with what Streamlit forgets then:
// changes of a domain's form that are not saved, an API token that is shown once.
(() => {
  if (window.colloquyUnsaved) return;
  window.colloquyUnsaved = true;
  const FORM = '[class*="st-key-domain-"][class*="-save"]'; // its button
  const CHANGED = '[class*="st-key-domain-"][class*="-discard"]'; // drawn where there are changes
  const TOKEN = ".st-key-token-shown-once";
  const TYPING = '[data-testid="InputInstructions"]'; // has a text where one is not applied yet

  window.addEventListener("beforeunload", (event) => {
    const isTyping = [...document.querySelectorAll(TYPING)].some((one) => one.textContent);
    if (document.querySelector(`${CHANGED}, ${TOKEN}`) || (isTyping && document.querySelector(FORM))) event.preventDefault();
  });
})();
