// Escape pressed after Enter but before the Stop button appears: remembered until the button of
// that message's turn exists.
const isVisible = (one) => one.getClientRects().length > 0;

/** The one message whose turn is to be stopped as soon as it can be. */
export class EarlyStop {
  constructor() {
    this.message = null;
    this.observer = new MutationObserver(() => this.press());
    // Text that a script restores to a field was not typed.
    document.addEventListener("input", ({ isTrusted }) => isTrusted && this.forget(), true);
  }

  keep(message) {
    this.message = message;
    this.observer.observe(document.body, { childList: true, subtree: true });
  }

  forget() {
    this.message = null;
    this.observer.disconnect();
  }

  press() {
    const turn = this.message?.turn;
    const button = turn && document.querySelector(`.st-key-stop-${turn} button:enabled`);
    if (!button || !isVisible(button)) return;
    this.forget();
    button.click();
  }

  /** The page was drawn: it shows another session, or the turn does not run. */
  update({ session, active, turns }) {
    if (!this.message) return;
    const { page, session: own, turn } = this.message;
    const isElsewhere = session !== page && session !== own;
    if (isElsewhere || (turns.includes(turn) && turn !== active)) this.forget();
  }
}
