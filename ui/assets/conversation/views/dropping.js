// Files that are dropped anywhere on a page which takes files; on others see `ui/assets/dropping.js`.
import { dropped } from "../composer/handed.js";
import { useEffect } from "../html.js";

const DIALOG = '[role="dialog"], [role="alertdialog"]';
const hasDialog = () => [...document.querySelectorAll(DIALOG)].some((one) => one.checkVisibility()); // one that is open

/** Take the files that are dropped, with those within folders.
 * @param {(files: File[]) => void} add @param {(isOver: boolean) => void} isOver told while files are held over the page */
export const useDrop = (add, isOver) => useEffect(() => {
  const over = (event) => {
    if (!event.dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    const isTaken = !hasDialog();
    event.dataTransfer.dropEffect = isTaken ? "copy" : "none";
    isOver(isTaken);
  };
  const drop = async (event) => {
    if (!event.dataTransfer?.types.includes("Files")) return;
    event.preventDefault(); // the browser would open the file in place of the page
    event.stopImmediatePropagation();
    isOver(false);
    if (!hasDialog()) add(await dropped(event.dataTransfer));
  };
  const gone = ({ relatedTarget }) => relatedTarget || isOver(false);
  addEventListener("dragover", over, true);
  addEventListener("drop", drop, true);
  addEventListener("dragleave", gone, true);
  return () => {
    removeEventListener("dragover", over, true);
    removeEventListener("drop", drop, true);
    removeEventListener("dragleave", gone, true);
  };
});
