// Draws formulas, wherever a text has them; KaTeX is loaded with the first one. Until then, and if it
// cannot be read, a formula is shown as it is written.
(() => {
  if (window.colloquyFormulas) return;
  const FORMULA = ".colloquy-formula:not([data-is-drawn])";
  const vendor = new URL("vendor/katex.min.js", document.currentScript.src);
  let loading = null;

  const drawOne = (element) => {
    const isBlock = element.tagName === "PRE";
    const drawn = document.createElement(isBlock ? "div" : "span");
    const options = { displayMode: isBlock, output: "mathml", throwOnError: false };
    drawn.innerHTML = window.katex.renderToString(element.textContent, options);
    drawn.className = element.className;
    drawn.dataset.isDrawn = "";
    element.replaceWith(drawn);
  };

  const draw = (root) => {
    const formulas = root.querySelectorAll(FORMULA);
    if (!formulas.length) return;
    if (window.katex) return formulas.forEach(drawOne);
    loading ??= import(vendor).then(() => draw(document));
  };

  window.colloquyFormulas = { draw };
  new MutationObserver(() => draw(document)).observe(document, { childList: true, subtree: true });
})();
