// A dialog of the browser's own: it keeps the focus within it, and Escape closes it.
import { html, icon, useEffect, useId, useRef } from "../html.js";

/** @param {{title: string, sign?: string, close: () => void, children: any}} given */
export const Dialog = ({ title, sign = "", close, children }) => {
  const box = useRef(/** @type {HTMLDialogElement | null} */ (null));
  const head = useId();
  useEffect(() => box.current.showModal(), []);
  const pressed = (event) => {
    event.stopPropagation(); // its keys are not for what opened it
    if (event.target === box.current && event.type === "click") box.current.close(); // beside it
  };
  return html`
    <dialog class="cq cq-dialog" aria-labelledby=${head} ref=${box} onClose=${close} onClick=${pressed} onKeyDown=${pressed}>
      <div class="cq-dialog-body">
        <header class="cq-dialog-head">
          <h2 id=${head}>${sign && icon(sign)} ${title}</h2>
          <button type="button" class="cq-plain" aria-label="Close" onClick=${() => box.current.close()}>${icon("close")}</button>
        </header>
        ${children}
      </div>
    </dialog>`;
};
