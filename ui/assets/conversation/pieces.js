// Divides an answer at the paragraphs that show the session's own pictures. Pure.
import { blocksOf } from "./markup.js";

const PICTURE = /^!\[([^\]\n]{0,300})\]\(<?([^)<>\n]{1,500}?)>?(?: "[^"\n]{0,200}")?\)[ \t]*$/;
const OWN_RESULT = /(?:^|\/)sessions\/([0-9a-fA-F-]{36})\/results\/([0-9a-fA-F-]{36})(?:$|\?)/;

/**
 * The results among the rows that answers can show, by the names that tools gave them.
 * @param {import("./types.js").DisplayMessage[]} rows
 */
export const picturesOf = (rows) => new Map(rows
  .filter(({ content_type, content, metadata }) => content_type === "image" && content.name && metadata.result_id)
  .map(({ content, metadata }) => [String(content.name), String(metadata.result_id)]));

/** The result that an address in an answer refers to. */
const find = (address, pictures, session) => {
  const [, of, result] = OWN_RESULT.exec(address) ?? [];
  if (of) return of.toLowerCase() === session ? result : undefined;
  return pictures.get(address.replace(/^attachment:/, "").replace(/^\.\//, ""));
};

/**
 * @param {string} text @param {Map<string, string>} pictures @param {string} session
 * @returns {({text: string} | {label: string, result: string})[]}
 */
export const piecesOf = (text, pictures, session) => {
  if (!text.includes("![")) return [{ text }];
  const lines = text.split(/\r\n?|\n/);
  /** @type {ReturnType<typeof piecesOf>} */
  const pieces = [];
  let start = 0;
  const tell = (end) => {
    const part = lines.slice(start, end).join("\n");
    if (part.trim()) pieces.push({ text: part });
  };
  const blocks = blocksOf(text);
  blocks.forEach(({ type, level, map }, place) => {
    if (type !== "paragraph_open" || level) return;
    const found = blocks[place + 1].content.split("\n").map((line) => PICTURE.exec(line.trim()));
    const shown = found.map((one) => one && { label: one[1], result: find(one[2], pictures, session) });
    if (!shown.every((one) => one?.result)) return;
    tell(map[0]);
    pieces.push(...shown);
    start = map[1];
  });
  tell(lines.length);
  return pieces;
};
