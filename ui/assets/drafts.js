// Keeps what is written but not sent with its composer, while another session is looked at:
// Streamlit forgets the text of an input that leaves the page, and Python never sees it.
// Keeps what was sent, too, until it is taken up: Streamlit drops a message when something is
// clicked in the moment before that. Such a message comes back to its composer.
(() => {
  if (window.colloquyDrafts) return;
  const LOOK_MS = 200;
  const LOST_LOOKS = 15; // the page has been at rest for so long, and nobody took the message up
  const drafts = (window.colloquyDrafts = new Map());
  const sent = new Map();
  const inputOf = (node) => node.closest?.('[class*="st-key-composer-"]');
  const nameOf = (input) => [...input.classList].find((one) => one.startsWith("st-key-composer-"));
  const write = Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, "value").set;
  // How many messages of this tab Python has taken up, whatever became of them.
  const taken = () => document.querySelector(".colloquy-taken")?.textContent;
  let seen = null;

  const restore = (area, text) => {
    write.call(area, text);
    area.dispatchEvent(new Event("input", { bubbles: true }));
  };

  const send = (input) => {
    const text = input?.querySelector("textarea")?.value ?? "";
    if (!text.trim()) return;
    sent.set(nameOf(input), { text, taken: taken(), looks: 0 });
    drafts.delete(nameOf(input)); // at once: a look may come before the key is let go
    document.dispatchEvent(new CustomEvent("colloquy:sent", { detail: text }));
  };

  // A key that sends empties the text before it comes up again.
  for (const event of ["input", "keyup", "click"]) {
    document.addEventListener(event, ({ target }) => {
      const input = inputOf(target);
      const area = input?.querySelector("textarea");
      if (area) setTimeout(() => drafts.set(nameOf(input), area.value));
    });
  }

  document.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) send(inputOf(event.target));
  }, true);
  document.addEventListener("click", ({ target }) => {
    if (target.closest?.('[data-testid="stChatInputSubmitButton"]')) send(inputOf(target));
  }, true);

  const lookForLost = (area) => {
    const name = nameOf(inputOf(area));
    const message = sent.get(name);
    if (!message) return;
    const app = document.querySelector('[data-testid="stApp"]');
    const isAtRest = app?.dataset.testScriptState === "notRunning";
    message.looks = isAtRest ? message.looks + 1 : 0;
    const isTaken = message.taken !== taken();
    if (!isTaken && message.looks < LOST_LOOKS) return;
    sent.delete(name);
    if (!isTaken) document.dispatchEvent(new CustomEvent("colloquy:returned"));
    if (!isTaken && !area.value) restore(area, message.text);
  };

  setInterval(() => {
    // The composer of the session before stays, hidden, while the page follows a turn.
    const areas = document.querySelectorAll('[class*="st-key-composer-"] textarea');
    const area = [...areas].find((one) => one.offsetParent);
    if (!area) return;
    lookForLost(area);
    if (area === seen) return;
    seen = area;
    const draft = drafts.get(nameOf(inputOf(area)));
    if (draft && !area.value) restore(area, draft);
  }, LOOK_MS);
})();
