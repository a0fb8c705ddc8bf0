// Files that are dropped beside the field that takes them go to it; without this, they would be
// lost. On a page without such a field, or with a dialog open, the browser shows that none is taken.
(() => {
  if (window.colloquyDropping) return;
  window.colloquyDropping = true;
  const TAKES_THEM = '.stFileUploader section';
  const DIALOG = '[role="dialog"], [role="alertdialog"]';

  const field = () =>
    [...document.querySelectorAll(DIALOG)].some((one) => one.checkVisibility())
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
