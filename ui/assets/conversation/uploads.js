// The place of a page where files are given to it: `ui/shared/uploads.py`. The browser sends them to the API
// itself. They go on while the page is left, and the page's script hears of each that is there.
import { newKey } from "./api.js";
import { Files } from "./composer/files.js";
import { Reader } from "./formats.js";
import { html, render } from "./html.js";
import { Uploads } from "./views/uploads.js";

/** @typedef {{path: string, label: string, help: string, maxMb: number, areMany: boolean, asks: boolean, heard: string}} Given
 * `asks`: the API asks what becomes of a file whose name another one has */

class Place {
  /** @param {Given} given */
  constructor({ path, asks }) {
    /** @type {((news: string) => void) | null} */
    this.tell = null; // the page's script, while its page is open
    this.news = ""; // what it was told last, until it has heard that
    /** @type {WeakSet<any>} */
    this.told = new WeakSet();
    this.files = new Files(path, (ifExists) => (asks ? { if_exists: ifExists } : {}), () => this.#changed());
  }

  /** The page is opened anew: what was said before is not about it. */
  enter() {
    this.files.keep(({ state }) => state === "sending");
  }

  /** The script has run. @param {string} news what it has heard last */
  hear(news) {
    if (news === this.news) this.news = "";
    else if (this.news) this.tell?.(this.news); // nobody was there when it was told
  }

  #changed() {
    const news = this.files.there.filter((details) => !this.told.has(details));
    for (const details of news) this.told.add(details);
    if (news.length) this.tell?.((this.news = newKey()));
  }
}

/** @type {Map<string, Place>} */
const places = new Map();
/** @type {WeakMap<Element, number>} */
const mounts = new WeakMap();

/** @param {{data: Given, parentElement: Element, setTriggerValue: (name: string, value: any) => void}} component */
export const mount = ({ data, parentElement, setTriggerValue }) => {
  const root = parentElement.querySelector(".cq-uploads");
  if (!places.has(data.path)) places.set(data.path, new Place(data));
  const place = places.get(data.path);
  const number = (mounts.get(root) ?? 0) + 1;
  mounts.set(root, number);
  if (!place.tell) place.enter();
  const tell = (/** @type {string} */ news) => setTriggerValue("uploaded", news);
  place.tell = tell;
  place.hear(data.heard);
  render(html`<${Uploads} files=${place.files} given=${data} reader=${new Reader()} />`, root);
  return () => {
    // A script that runs again gives a mount up after the next one: only the last one's end is the end.
    if (mounts.get(root) !== number) return;
    mounts.delete(root);
    if (place.tell === tell) place.tell = null; // else it is drawn elsewhere by now
    render(null, root);
  };
};
