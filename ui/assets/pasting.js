// Pastes copied cells as text. Spreadsheet programs put a picture of them into the clipboard as
// well, and Streamlit, which takes the files of a paste first, would drop the text.
(() => {
  if (window.colloquyPasting) return;
  window.colloquyPasting = true;
  const COMPOSER = '[class*="st-key-composer-"] textarea';

  // In the capture phase, before Streamlit's listener; the browser then pastes the text.
  document.addEventListener("paste", (event) => {
    const { clipboardData: held, target } = event;
    if (!held?.files.length || !target.matches?.(COMPOSER)) return;
    const files = [...held.files];
    const text = held.getData("text/plain");
    const isFileName = files.some(({ name }) => name === text); // of a file copied on a Mac
    const arePictures = files.every(({ type }) => type.startsWith("image/"));
    if (text && arePictures && !isFileName) event.stopPropagation();
  }, true);
})();
