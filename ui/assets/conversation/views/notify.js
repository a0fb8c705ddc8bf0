// The offer to be told when a turn ends, beside the words on it.
import { attention } from "../attention.js";
import { html, useEffect, useState } from "../html.js";

const OFFER_MS = 5000; // a turn that has taken this long may be left alone
const OFFER = "Notify me when it ends";
const ON = "You will be notified · Turn off";

/** Drawn while a turn runs; it offers itself once the turn has taken long. */
export const Notify = () => {
  const [isOffered, offers] = useState(false);
  useEffect(() => {
    const timer = setTimeout(offers, OFFER_MS, true);
    return () => clearTimeout(timer);
  }, []);
  if (!isOffered || !window.Notification) return null;
  const words = attention.problem.value || (attention.isWanted.value ? ON : OFFER);
  return html`<button type="button" class="colloquy-text-button" onClick=${() => attention.toggle()}>${words}</button>`;
};
