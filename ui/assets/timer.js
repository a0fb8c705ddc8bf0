// Redraws the page after some seconds, for as long as it shows something that changes with time.
import { mayRedraw } from "./rest.js";

const RETRY_MS = 200;
const timers = new WeakMap(); // by place on the page: a redrawn place keeps its timer

export const mount = ({ data, parentElement, setTriggerValue }) => {
  const wait = (ms) => {
    clearTimeout(timers.get(parentElement));
    timers.set(parentElement, setTimeout(draw, ms));
  };
  const draw = () => {
    if (!parentElement.isConnected) return;
    if (!mayRedraw()) {
      wait(RETRY_MS);
      return;
    }
    setTriggerValue("due", Date.now());
    wait(data.seconds * 1000); // again, if no redraw followed
  };
  wait(data.seconds * 1000);
};
