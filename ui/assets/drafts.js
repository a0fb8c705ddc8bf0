// Keeps the unsent text of a composer while another session is open: Streamlit forgets the text of
// an input that leaves the page, and Python never sees it.
(() => {
  if (window.colloquyDrafts) return;
  const LOOK_MS = 200;
  const drafts = (window.colloquyDrafts = new Map());
  const inputOf = (node) => node.closest?.('[class*="st-key-composer-"]');
  const nameOf = (input) => [...input.classList].find((one) => one.startsWith("st-key-composer-"));
  const write = Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, "value").set;
  let seen = null;

  const restore = (area, text) => {
    write.call(area, text);
    area.dispatchEvent(new Event("input", { bubbles: true }));
  };

  /** Put a draft into its composer when that is new on the page. */
  const look = () => {
    const area = document.querySelector('[class*="st-key-composer-"] textarea');
    if (!area || area === seen) return;
    seen = area;
    const draft = drafts.get(nameOf(inputOf(area)));
    if (draft && !area.value) restore(area, draft);
  };

  // A key that sends has emptied the text by the time of its keyup event.
  for (const event of ["input", "keyup", "click"]) {
    document.addEventListener(event, ({ target }) => {
      const input = inputOf(target);
      const area = input?.querySelector("textarea");
      if (area) setTimeout(() => drafts.set(nameOf(input), area.value));
    });
  }

  // Immediately: the text may be read before the key is released. A key may also come before a draft
  // is back in its composer.
  const forget = (node) => {
    const input = inputOf(node);
    if (input) drafts.delete(nameOf(input));
  };
  document.addEventListener("keydown", (event) => {
    look();
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) forget(event.target);
  }, true);
  document.addEventListener("click", ({ target }) => {
    if (target.closest?.('[data-testid="stChatInputSubmitButton"]')) forget(target);
  }, true);

  setInterval(look, LOOK_MS);
})();
