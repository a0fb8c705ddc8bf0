// The title of the browser's tab, which the pages' frame sets as well, whenever it is drawn.
const MARK = "● ";

let words = "";
let isMarked = false;

const write = () => {
  const wanted = (isMarked ? MARK : "") + (words || document.title.replace(MARK, ""));
  if (document.title !== wanted) document.title = wanted;
};

const titles = new MutationObserver(write);

const keep = () => {
  const title = document.querySelector("title");
  if (title) titles.observe(title, { childList: true });
  write();
};

export const tab = {
  /** Name the tab so from now on; "": as the page says. @param {string} title */
  name: (title) => {
    words = title;
    keep();
  },

  /** Mark it, for a person who looks elsewhere. @param {boolean} is */
  mark: (is) => {
    isMarked = is;
    keep();
  },

  get title() {
    return document.title.replace(MARK, "");
  },
};
