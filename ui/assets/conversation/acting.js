// What a press on a control does: one effect for each, and the API's refusal beside its cause.
import { Problem } from "./api.js";
import { html, icon, useRef, useState } from "./html.js";

/**
 * An act of a control. A press while the act is under way does nothing.
 * @template {any[]} A
 * @param {(...given: A) => Promise<any>} fn what it does; a `Problem` of its is shown
 * @returns {{act: (...given: A) => Promise<boolean>, isActing: boolean, problem: Problem | null}} `act`
 * tells whether it succeeded
 */
export const useAct = (fn) => {
  const [state, tell] = useState({ isActing: false, problem: /** @type {Problem | null} */ (null) });
  const isActing = useRef(false); // at once, while the state waits for the next drawing
  const act = async (...given) => {
    if (isActing.current) return false;
    isActing.current = true;
    tell({ isActing: true, problem: null });
    let problem = null;
    try {
      await fn(.../** @type {A} */ (given));
    } catch (failure) {
      if (!(failure instanceof Problem)) throw failure;
      problem = failure;
    } finally {
      isActing.current = false;
      tell({ isActing: false, problem });
    }
    return problem === null;
  };
  return { act, ...state };
};

/** Why something was not done. @param {{problem: Problem | null}} given */
export const Refusal = ({ problem }) => problem && html`
  <div class="cq-error" role="alert">${icon("error")}<div><strong>${problem.title}.</strong> ${problem.detail}</div></div>`;
