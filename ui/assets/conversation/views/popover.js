// A button and what it opens beside itself: as a dialog that the keyboard goes into, and Escape leaves.
import { html, icon, useId, useRef, useState } from "../html.js";

/** Below the button and within the window. */
const place = (box, button) => {
  const { left, bottom } = button.getBoundingClientRect();
  box.style.top = `${Math.max(0, Math.min(bottom + 4, window.innerHeight - box.offsetHeight))}px`;
  box.style.left = `${Math.max(4, Math.min(left, document.documentElement.clientWidth - box.offsetWidth - 4))}px`;
};

/** Drawn, and so read, only once it is opened.
 * @param {{sign: string, label: string, tip?: string, isIcon?: boolean, children: any}} given */
export const Popover = ({ sign, label, tip = label, isIcon = true, children }) => {
  const button = useRef(null);
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  const id = useId();
  const [isOpen, opens] = useState(false);
  const toggled = ({ newState }) => {
    opens(newState === "open");
    if (newState !== "open") return;
    box.current.focus();
    const observer = new ResizeObserver(() => (box.current?.matches(":popover-open") ? place(box.current, button.current) : observer.disconnect()));
    observer.observe(box.current);
  };
  return html`
    <button type="button" class="cq-plain" popovertarget=${id} aria-expanded=${String(isOpen)} aria-haspopup="dialog" title=${tip}
      aria-label=${isIcon ? label : null} ref=${button}>${icon(sign)}${!isIcon && html` ${label}`}</button>
    <div id=${id} class="cq-popover" popover="auto" role="dialog" aria-label=${label} tabindex="-1" ref=${box} onToggle=${toggled}>
      ${isOpen && (typeof children === "function" ? children() : children)}
    </div>`;
};
