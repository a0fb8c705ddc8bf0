// What the pages mount: `ui/features/conversation/component.py`. A script that is drawn again finds the
// same here, and nothing in it is drawn anew.
import { app } from "./app.js";
import { attach } from "./host.js";
import "./keys.js";
import { Reader } from "./formats.js";
import { html, render } from "./html.js";
import { drawn, enterList } from "./list/list.js";
import { Conversation } from "./store.js";
import { Chat } from "./views/chat.js";
import { Inbox } from "./views/acts/inbox.js";
import { Reading } from "./views/conversation.js";

/** @typedef {{view: "link" | "chat" | "list" | "inbox", person: string, path?: string, reviews?: string, waiting?: string}} Given
 * `reviews`: set for who may see the calls of everybody; `waiting`: what waits for a decision */

/** What each view draws, and how it is left. @type {Record<string, (root: Element, data: Given) => () => void>} */
const VIEWS = {
  link: (root, { path, person }) => {
    const conversation = new Conversation(path, new Reader());
    conversation.person = person;
    render(html`<${Reading} conversation=${conversation} />`, root);
    conversation.open();
    return conversation.follow();
  },
  chat: (root, { person }) => {
    app.person = person;
    render(html`<${Chat} app=${app} />`, root);
    return app.enter();
  },
  list: (root, { person }) => {
    app.person = person;
    return enterList(root);
  },
  inbox: (root, { person, reviews }) => {
    render(html`<${Inbox} reader=${app.reader} person=${person} mayReview=${Boolean(reviews)} />`, root);
    return () => {};
  },
};

/** @type {WeakMap<Element, {key: string, leave: () => void, mounts: number}>} */
const shown = new WeakMap();

const leave = (root) => {
  shown.get(root)?.leave();
  shown.delete(root);
  render(null, root);
};

/** @param {{data: Given, parentElement: Element, setTriggerValue: (name: string, value: any) => void}} component */
export const mount = ({ data, parentElement, setTriggerValue }) => {
  const root = parentElement.querySelector(".cq-root");
  const key = `${data.view} ${data.path ?? ""} ${data.person}`;
  attach(data.view, setTriggerValue);
  drawn.waiting = data.waiting ?? drawn.waiting;
  if (shown.get(root)?.key !== key) {
    if (shown.has(root)) leave(root);
    shown.set(root, { key, leave: VIEWS[data.view](root, data), mounts: 0 });
  }
  const mounted = shown.get(root);
  mounted.mounts += 1;
  const number = mounted.mounts;
  return () => {
    // A script that runs again while one mounts gives that one up after the next: only the last
    // mount's end is the end.
    if (shown.get(root) !== mounted || mounted.mounts !== number) return;
    attach(data.view, null);
    leave(root);
  };
};

// The pages' HTML loads this before Streamlit has started: reading begins meanwhile.
if (location.pathname === "/") app.prepare();
