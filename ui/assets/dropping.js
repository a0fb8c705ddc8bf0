// On a page that takes no files, dropped ones would replace the page: the browser shows that none is
// taken. Pages that take them handle the drop before: `conversation/views/dropping.js`.
(() => {
  if (window.colloquyDropping) return;
  window.colloquyDropping = true;

  const refuse = (event) => {
    if (!event.dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    event.dataTransfer.dropEffect = "none";
  };
  document.addEventListener("dragover", refuse);
  document.addEventListener("drop", refuse);
})();
