// One step back per page. When a page is left for another one, Streamlit 1.67 sets the new query in
// the address first and the new path then, as two entries of the browser's history: Back would lead
// to an address between the two, such as a new chat instead of the session that was left.
(() => {
  if (window.colloquyHistory) return;
  window.colloquyHistory = true;
  let between = null; // the address whose query was set last, until the person acts again

  const push = history.pushState.bind(history);
  history.pushState = (data, unused, url) => {
    const [from, to] = [location.href, url ?? location.href].map((one) => new URL(one, location.href));
    const isRest = between === from.href && from.search === to.search;
    between = from.pathname === to.pathname ? to.href : null;
    if (isRest) history.replaceState(data, unused, url);
    else push(data, unused, url);
  };

  for (const event of ["pointerdown", "keydown", "popstate"])
    window.addEventListener(event, () => (between = null), true);
})();
