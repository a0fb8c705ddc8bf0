// A link to another page of Colloquy, which its script opens; with a key pressed, a link like any other.
import { host } from "../host.js";
import { html, icon } from "../html.js";

/** @param {{page: string, query?: Record<string, string>, sign: string, label: string, tip?: string, isIcon?: boolean}} given */
export const ToPage = ({ page, query = {}, sign, label, tip = label, isIcon = true }) => {
  const search = new URLSearchParams(query).toString();
  const go = (event) => {
    if (event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    host.go(page, query);
  };
  return html`<a class="cq-plain" href=${`/${page}${search && `?${search}`}`} title=${tip} aria-label=${isIcon ? label : null}
    onClick=${go}>${icon(sign)}${!isIcon && html` ${label}`}</a>`;
};
