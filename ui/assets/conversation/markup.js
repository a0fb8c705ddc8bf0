// Whether a browser can lay out a text, and colour a code: Markdown may be written to overload it.
// The rules of `ui/shared/text/markup.py`, which says why. Pure.
import { markdown } from "../dialect.js";

const MOST_LINES = 3_000;
const MOST_NESTED = 30;
const MOST_INDENTED = 100;
const MOST_HEADINGS = 300;
const MOST_CELLS = 5_000;
const MOST_DOLLARS = 600;
const MOST_IN_BLOCK = { "*": 2_000, _: 2_000, "~": 2_000, "[": 800, "`": 4_000 };
const MOST_COLOURED = 10_000;
const LONGEST_COLOURED_LINE = 1_000;
const UNCOLOURED = ["markdown", "md", "mdx"];
const PART_CHARS = 8_000;

const MARKER = /[ \t]*(?:>|[-+*](?=[ \t])|\d{1,9}[.)](?=[ \t]))/y;

/** @param {string} text @param {string} sign */
const count = (text, sign) => text.split(sign).length - 1;

/** @param {string} line */
const isHeading = (line) => {
  const content = line.replace(/^[ \t>]+/, "");
  return content.startsWith("#") || /^[=\- ]+$/.test(content);
};

/** @param {string} line */
const isTooDeep = (line) => {
  let nested = 0;
  for (MARKER.lastIndex = 0; nested <= MOST_NESTED && MARKER.test(line);) nested += 1;
  return nested > MOST_NESTED || /^[ \t]*/.exec(line)[0].length > MOST_INDENTED;
};

/** Whether a text should be shown as it is written. Linear. @param {string} text */
export const isTooMuch = (text) => {
  const lines = text.split("\n");
  if (lines.length > MOST_LINES || count(text, "$") > MOST_DOLLARS) return true;
  if (lines.filter(isHeading).length > MOST_HEADINGS || lines.some(isTooDeep)) return true;
  let cells = 0;
  for (let start = 0; start < lines.length; start += 1) {
    if (!lines[start].trim()) continue;
    let end = start, bars = 0;
    for (; end < lines.length && lines[end].trim(); end += 1) bars = Math.max(bars, count(lines[end], "|"));
    const block = lines.slice(start, end).join("\n");
    cells += (end - start) * bars;
    if (cells > MOST_CELLS) return true;
    if (Object.entries(MOST_IN_BLOCK).some(([sign, most]) => count(block, sign) > most)) return true;
    start = end;
  }
  return false;
};

/** The blocks of a text, without what is within its lines: that may take very long. @param {string} text */
export const blocksOf = (text) => {
  const blocks = [];
  markdown.block.parse(text.replace(/\r\n?/g, "\n").replaceAll("\0", "\ufffd"), markdown, {}, blocks);
  return blocks;
};

/**
 * A text in parts, of which those are plain that a browser cannot lay out; one part if it can.
 * @param {string} text @returns {{text: string, isPlain: boolean}[]}
 */
export const partsOf = (text) => {
  if (!isTooMuch(text)) return [{ text, isPlain: false }];
  const lines = text.split(/\r\n?|\n/);
  const parts = [];
  let start = 0;
  const tell = (end, isCode = false) => {
    const part = lines.slice(start, end).join("\n").replace(/^\n+|\n+$/g, "");
    if (part.trim()) parts.push({ text: part, isPlain: !isCode && isTooMuch(part) });
    start = end;
  };
  for (const { type, level, map, nesting } of blocksOf(text)) {
    if (level || !map || nesting < 0) continue;
    const isCode = type === "fence" || type === "code_block";
    const chars = lines.slice(start, map[0]).reduce((sum, line) => sum + line.length, 0);
    if (isCode || chars > PART_CHARS) tell(map[0]);
    if (isCode) tell(map[1], true);
  }
  tell(lines.length);
  return parts;
};

/** Whether code may be coloured: it could take too long. @param {string} text @param {string} language */
export const mayColour = (text, language) =>
  text.length <= MOST_COLOURED && !UNCOLOURED.includes(language)
  && text.split("\n").every((line) => line.length <= LONGEST_COLOURED_LINE);
