// Files that are dropped beside the field that takes them go to it; without this, they would be
// lost. On a page without such a field, or with a dialog open, the browser shows that none is taken.
(() => {
  if (window.colloquyDropping) return;
  window.colloquyDropping = true;
  const TAKES_THEM = '[data-testid="stChatInput"], [data-testid="stFileUploaderDropzone"]';
  const DIALOG = '[role="dialog"], [role="alertdialog"]';

  // While another session opens, the composer of the previous one is still there, hidden.
  const field = () =>
    document.querySelector(DIALOG)
      ? null
      : [...document.querySelectorAll(TAKES_THEM)]
          .find((one) => one.checkVisibility())
          ?.querySelector('input[type="file"]:not(:disabled)');

  // Streamlit handles what is dropped on its own fields.
  const isBeside = ({ dataTransfer, target }) =>
    dataTransfer?.types.includes("Files") && !target.closest?.(TAKES_THEM);

  document.addEventListener("dragover", (event) => {
    if (!isBeside(event)) return;
    event.preventDefault();
    event.dataTransfer.dropEffect = field() ? "copy" : "none";
  });

  document.addEventListener("drop", (event) => {
    if (!isBeside(event)) return;
    event.preventDefault(); // the browser would open the file in place of the page
    const input = field();
    if (!input) return;
    input.dispatchEvent(new DragEvent("drop", { dataTransfer: event.dataTransfer, bubbles: true }));
  });
})();
