// The conversation, as the pages mount it: `ui/features/conversation/component.py`. A script that is
// drawn again finds the same conversation here, and nothing in it is drawn anew.
import { Reader } from "./formats.js";
import { html, render } from "./html.js";
import { Conversation } from "./store.js";
import { Reading } from "./views/conversation.js";

/** @type {WeakMap<Element, {path: string, close: () => void, mounts: number}>} */
const open = new WeakMap();

/** @param {{data: {path: string, person: string}, parentElement: Element}} component */
export const mount = ({ data, parentElement }) => {
  const root = parentElement.querySelector(".cq-root");
  if (open.get(root)?.path !== data.path) {
    open.get(root)?.close();
    const conversation = new Conversation(data.path, new Reader());
    conversation.person = data.person;
    render(html`<${Reading} key=${data.path} conversation=${conversation} />`, root);
    conversation.open();
    open.set(root, { path: data.path, close: conversation.follow(), mounts: 0 });
  }
  const mounted = open.get(root);
  mounted.mounts += 1;
  const number = mounted.mounts;
  return () => {
    // A script that runs again while one mounts gives that one up after the next: only the last
    // mount's end is the end.
    if (open.get(root) !== mounted || mounted.mounts !== number) return;
    mounted.close();
    open.delete(root);
    render(null, root);
  };
};
