// Keeps the unsent text of a composer while another session is open, and when the tab is reloaded:
// Streamlit forgets the text of an input that leaves the page, and Python never sees it.
(() => {
  if (window.colloquyDrafts) return;
  const LOOK_MS = 200;
  const STORED = "colloquy-draft-"; // then the session; in this tab's storage while it reloads
  const NEW_CHAT = "new";

  /** The texts by the composer's name, which is another one after a reload or a new connection. */
  class Drafts extends Map {
    sessions = new Map(); // by the composer's name, as the page has reported

    /** The page has reported whose composer this is: `session` is null for a new chat, which also
        gets what was left in a session that is `gone`. */
    place(name, session, gone) {
      const place = session ?? NEW_CHAT;
      if (this.sessions.get(name) === place) return;
      this.sessions.set(name, place);
      const left = place === NEW_CHAT && gone ? this.take(name, gone) : "";
      const text = [left, this.take(name, place)].filter(Boolean).join("\n\n");
      if (!text) return;
      const area = document.querySelector(`.${name} textarea`);
      const newer = area?.value.trim();
      this.set(name, newer ? `${text}\n\n${newer}` : text);
      if (area) restore(area, this.get(name));
    }

    /** Whether a composer's text area is known to be a new chat's. */
    isOfNewChat(area) {
      return this.sessions.get(nameOf(inputOf(area))) === NEW_CHAT;
    }

    /** Take the text that was left in a composer of before, in the same session. */
    take(name, place) {
      const before = [...this.sessions].find(([one, its]) => its === place && one !== name)?.[0];
      const text = this.get(before) || sessionStorage.getItem(STORED + place);
      this.sessions.delete(before);
      this.delete(before);
      sessionStorage.removeItem(STORED + place);
      return text;
    }

    /** Store what is unsent, as the tab may be about to reload; return whether there is room. */
    store() {
      let isStored = true;
      for (const [name, place] of this.sessions) {
        const area = document.querySelector(`.${name} textarea`);
        const text = area?.value || this.get(name); // what was just typed is not kept yet
        try {
          if (text?.trim()) sessionStorage.setItem(STORED + place, text);
          else sessionStorage.removeItem(STORED + place);
        } catch {
          isStored = false; // a text of several megabytes
        }
      }
      return isStored;
    }
  }

  const drafts = (window.colloquyDrafts = new Drafts());
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
    if (event.key === "Enter" && !event.shiftKey) forget(event.target);
  }, true);
  document.addEventListener("click", ({ target }) => {
    if (target.closest?.('[data-testid="stChatInputSubmitButton"]')) forget(target);
  }, true);

  window.addEventListener("pagehide", () => drafts.store());
  window.addEventListener("beforeunload", (event) => {
    if (!drafts.store()) event.preventDefault(); // the browser asks
  });
  setInterval(look, LOOK_MS);
})();
