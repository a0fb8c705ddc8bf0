// The two things that the component asks of the page's script: to open something in the panel, and
// to go to another page. Whatever else is needed, it asks of the API.

/** What each part of the page that is mounted is asked through. @type {Map<string, (name: string, value: any) => void>} */
const triggers = new Map();

/** A part of the page was drawn, and can be asked; null: it is left.
 * @param {string} view @param {((name: string, value: any) => void) | null} set */
export const attach = (view, set) => (set ? triggers.set(view, set) : triggers.delete(view));

export const host = {
  /** Open a table, an artifact or a chart in the panel. @param {Record<string, any>} what */
  panel: (what) => triggers.get("chat")?.("panel", { ...what, asked: performance.now() }),

  /** Draw the page again: what its script has drawn is no longer so. */
  redraw: () => triggers.get("list")?.("go", { page: null, asked: performance.now() }),

  /** Go to a page of Streamlit's, by the name that `ui/navigation.py` knows. @param {string} page @param {Record<string, string>} [query] */
  go: (page, query = {}) => [...triggers.values()].at(-1)?.("go", { page, query, asked: performance.now() }),
};
