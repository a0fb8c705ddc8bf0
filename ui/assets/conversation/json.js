// JSON for reading: over several lines, unless that makes it many times longer. The rule of
// `ui/shared/text/json_text.py`. Pure.
const INDENT = 2;
const MOST_DEPTH = 60;
const MOST_BLANKS = 1_000_000;

// Numbers stay as they are written, where the browser can keep them.
const { rawJSON, isRawJSON } = /** @type {any} */ (JSON);
const asWritten = (_, value, { source = "" } = {}) =>
  typeof value === "number" && source && rawJSON ? rawJSON(source) : value;

/** @param {any} value */
const partsOf = (value) =>
  value !== null && typeof value === "object" && !isRawJSON?.(value) ? Object.values(value) : [];

/** @param {unknown} value */
const isModest = (value) => {
  let left = [value], blanks = 0;
  for (let depth = 1; left.length; depth += 1) {
    const parts = left.flatMap(partsOf);
    blanks += INDENT * depth * parts.length;
    if (depth > MOST_DEPTH || blanks > MOST_BLANKS) return false;
    left = parts;
  }
  return true;
};

/** @param {unknown} value */
const layOut = (value) => {
  try {
    return JSON.stringify(value, null, isModest(value) ? INDENT : 0) ?? "";
  } catch (problem) {
    if (!(problem instanceof RangeError)) throw problem;
    return "(nested too deeply to be shown)";
  }
};

/** The text of a value, and its language: JSON is laid out, even if it comes as text.
 * @param {unknown} value @returns {[string, string]} */
export const readable = (value) => {
  if (typeof value !== "string") return [layOut(value), "json"];
  let read;
  try {
    read = JSON.parse(value, asWritten);
  } catch {
    return [value, ""];
  }
  return read !== null && typeof read === "object" && !isRawJSON?.(read) ? [layOut(read), "json"] : [value, ""];
};
