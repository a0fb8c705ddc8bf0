// Whose page this is. A page belongs to the person whom the server named in it; as soon as its
// browser holds nobody's sign-in, or another person's, it is left: nothing of one person may stay
// for the next one. Asked where a connection ends, which the server does with a sign-in's, where a
// tab comes into sight again, and after a refusal.
(() => {
  if (window.colloquySignIn) return;
  const PERSON = "colloquy-person"; // in this tab's storage: whose it is
  const UNAUTHORIZED = 401;
  // Empty: nobody signs in here, or the service was away and could not say so.
  const person = document.querySelector('meta[name="colloquy-person"]')?.content ?? "";
  const signIn = (window.colloquySignIn = { check: () => {} });
  if (person) {
    if (sessionStorage.getItem(PERSON) !== person) sessionStorage.clear();
    sessionStorage.setItem(PERSON, person);
  }

  /** Leave without a trace and without a question: neither what is drawn nor what is unsent stays. */
  const leave = (go) => {
    document.body.replaceChildren();
    window.addEventListener("beforeunload", (event) => event.stopImmediatePropagation(), true);
    window.addEventListener("pagehide", () => sessionStorage.clear()); // after drafts are stored
    go();
  };

  let asking = null;
  const ask = async () => {
    try {
      const answer = await fetch("/colloquy/person", { cache: "no-store" });
      if (answer.status === UNAUTHORIZED) {
        const place = location.pathname + location.search;
        const next = new URLSearchParams({ ended: "yes", next: place });
        leave(() => location.replace(`/sign-in?${next}`));
      } else if (answer.ok && (await answer.text()) !== person) leave(() => location.reload());
    } catch {
      // Cut off: other scripts say so. The next connection asks again.
    }
  };
  signIn.check = () => (asking ??= ask().finally(() => (asking = null)));

  /** Ask when Streamlit's connection ends. */
  const watch = (app) => {
    let before = app.dataset.testConnectionState;
    new MutationObserver(() => {
      const now = app.dataset.testConnectionState;
      if (before === "CONNECTED" && now !== before) signIn.check();
      before = now;
    }).observe(app, { attributeFilter: ["data-test-connection-state"] });
  };
  const arriving = new MutationObserver(() => {
    const app = document.querySelector("[data-test-connection-state]");
    if (!app) return;
    arriving.disconnect();
    watch(app);
  });
  arriving.observe(document.documentElement, { subtree: true, childList: true });
  if (!person) return;
  document.addEventListener("visibilitychange", () => document.hidden || signIn.check());
  window.addEventListener("pageshow", ({ persisted }) => persisted && signIn.check());

  document.addEventListener("click", async ({ target }) => {
    if (target.closest?.(".st-key-change-password button")) return location.assign("/sign-in/password");
    const button = target.closest?.(".st-key-sign-out-here button, .st-key-sign-out-everywhere button");
    if (!button) return;
    const everywhere = button.closest(".st-key-sign-out-everywhere") ? "yes" : "";
    const answer = await fetch("/sign-in/out", { method: "POST", body: new URLSearchParams({ everywhere }) });
    leave(() => location.replace(answer.ok ? answer.url : "/sign-in/out"));
  });
})();
