// What a control does, or why it does nothing now: shown while it is pointed at or focused.
import { html, useRef } from "../../html.js";

let made = 0;

/** @param {{text?: string | null, isBelow?: boolean, children: any}} given without a text, only what is in it */
export const Tip = ({ text = null, isBelow = false, children }) => {
  const id = useRef("");
  id.current ||= `cq-tip-${++made}`;
  return html`
    <span class="cq-tipped" aria-describedby=${text ? id.current : undefined}>
      ${children}${text && html`<span class=${`cq-tip ${isBelow ? "cq-below-it" : ""}`} role="tooltip" id=${id.current}>${text}</span>`}
    </span>`;
};
