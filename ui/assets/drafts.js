// Keeps what is written but not sent with its composer, while another session is looked at:
// Streamlit forgets the text of an input that leaves the page, and Python never sees it.
(() => {
  if (window.colloquyDrafts) return;
  const drafts = (window.colloquyDrafts = new Map());
  const inputOf = (node) => node.closest?.('[class*="st-key-composer-"]');
  const nameOf = (input) => [...input.classList].find((one) => one.startsWith("st-key-composer-"));
  const write = Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, "value").set;
  let seen = null;

  // A key that sends empties the text before it comes up again.
  for (const event of ["input", "keyup", "click"]) {
    document.addEventListener(event, ({ target }) => {
      const input = inputOf(target);
      const area = input?.querySelector("textarea");
      if (area) setTimeout(() => drafts.set(nameOf(input), area.value));
    });
  }

  setInterval(() => {
    // The composer of the session before stays, hidden, while the page follows a turn.
    const areas = document.querySelectorAll('[class*="st-key-composer-"] textarea');
    const area = [...areas].find((one) => one.offsetParent);
    if (!area || area === seen) return;
    seen = area;
    const draft = drafts.get(nameOf(inputOf(area)));
    if (!draft || area.value) return;
    write.call(area, draft);
    area.dispatchEvent(new Event("input", { bubbles: true }));
  }, 200);
})();
