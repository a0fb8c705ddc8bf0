// Has the page drawn again after some seconds, for as long as it shows what changes by itself.
import { mayRedraw } from "./rest.js";

const RETRY_MS = 200;
const timers = new WeakMap(); // by the place on the page: a place that is drawn again has one still

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
    wait(data.seconds * 1000); // again, if nothing came of it
  };
  wait(data.seconds * 1000);
};
