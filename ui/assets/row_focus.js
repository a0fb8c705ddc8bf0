// Keeps the keyboard in the lists of a domain's form. Adding, moving or removing a row draws all rows
// again: the button that was pressed is gone then, and with it the focus. It moves to the same button
// of the row that was moved, or of the one that took the place of a removed row.
(() => {
  if (window.colloquyRowFocus) return;
  window.colloquyRowFocus = true;
  const FORM = '[class*="st-key-domain-"]';
  // The number at the end says how often the rows were drawn again.
  const BUTTON = /^(st-key-domain-.+)-(add|remove|up|down)(?:-\d+)?$/;
  const ROW = /^(.+)-(\d+)$/;
  const AT_REST = '.stApp[data-test-script-state="notRunning"]';
  const TAB = '[role="tab"][aria-selected="true"]';

  const nameOf = (button) => {
    const names = [...(button.closest(FORM)?.classList ?? [])];
    const [, of, action] = names.map((name) => BUTTON.exec(name)).find(Boolean) ?? [];
    return action && `${of} ${action}`;
  };

  /** Return the names of the buttons that may get the focus, the best first. */
  const heirs = (name) => {
    const [of, action] = name.split(" ");
    const [, list, place] = ROW.exec(of) ?? [];
    const by = { up: -1, down: 1, remove: 0 }[action];
    if (!list || by === undefined) return [name];
    const row = `${list}-${Number(place) + by}`;
    if (action !== "remove") return [`${row} ${action}`, `${row} ${action === "up" ? "down" : "up"}`];
    return [name, `${list}-${place - 1} remove`, `${list} add`];
  };

  const heirOf = (name) => {
    if (!document.querySelector(AT_REST)) return null;
    // Streamlit draws a button that has a tip twice, once for narrow windows.
    const visible = [...document.querySelectorAll(`${FORM} button`)].filter((one) => one.getClientRects().length);
    const buttons = new Map(visible.map((one) => [nameOf(one), one]));
    const heir = heirs(name).find((one) => buttons.has(one));
    return buttons.get(heir) ?? document.querySelector(TAB);
  };

  document.addEventListener("click", ({ target, detail }) => {
    const button = target.closest?.("button");
    const name = detail === 0 && button && nameOf(button); // 0: by key, not by pointer
    if (name) window.colloquyKeys.focusAfter(button, () => heirOf(name));
  }, true);
})();
