// Edits a title in place: Enter and leaving the field save it, Escape does not.
import { ask, titleOf } from "./acts.js";
import { make } from "./elements.js";
import { focusRow, list, rowOf } from "./list.js";

export function startRename(id) {
  const item = list.items.get(id);
  const before = titleOf(rowOf(id));
  const input = make("input", "title", null, {
    type: "text",
    maxlength: list.data.limits.title,
    "aria-label": "Title",
  });
  input.value = before;
  let isDone = false;
  const finish = (keeps) => {
    if (isDone || list.isDrawing) return;
    isDone = true;
    item.classList.remove("renaming");
    input.remove();
    const title = input.value.trim();
    if (keeps && title && title !== before) ask("rename", { ids: [id], title });
  };
  input.addEventListener("blur", () => finish(true));
  input.addEventListener("keydown", (event) => {
    event.stopPropagation(); // its keys are not for the list
    if (!["Enter", "Escape"].includes(event.key)) return;
    event.preventDefault(); // the key would otherwise also press the row that gets the focus
    finish(event.key === "Enter");
    focusRow(id);
  });
  item.classList.add("renaming");
  item.prepend(input);
  input.select();
}
