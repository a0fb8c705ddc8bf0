// Names of agents after an @: where one begins, which agents it may mean, and the completed text.

// The same rule as the service's: an address such as a@b.c is not a mention, and words of these
// scripts have no space between them, or carry their endings directly.
const UNSPACED = String.raw`\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u9fff\uac00-\ud7ff\uf900-\ufaff\uff66-\uffdc`;
const BEGUN = new RegExp(String.raw`(?<!(?![${UNSPACED}])[\p{L}\p{M}\p{N}])(?<![.@\uff20/\x60])[@\uff20]([\p{L}\p{M}\p{N}_-]{0,80})$`, "u");
const REST = new RegExp(String.raw`^(?:(?![${UNSPACED}])[\p{L}\p{M}\p{N}_-])*`, "u");
const LONGEST = 100; // before the cursor: more is no name

// Fences also stand in quotations and in items of lists, at any indentation.
const OPENING = /^[\s>]*(?:(?:[-*+]|\d{1,9}[.)])\s[\s>]*)*(`{3,}(?=[^`]*$)|~{3,})/;
const CLOSING = /^[\s>]*(`{3,}|~{3,})\s*$/;

/** Whether this text ends inside code, where @ is not a mention. @param {string} text */
export const isInCode = (text) => {
  const lines = text.split("\n");
  let fence = "";
  let isQuoted = false;
  for (const line of lines) {
    if (isQuoted && !line.trimStart().startsWith(">")) fence = "";
    if (fence) {
      if (CLOSING.exec(line)?.[1].startsWith(fence)) fence = "";
      continue;
    }
    const opened = OPENING.exec(line);
    fence = opened?.[1] ?? "";
    isQuoted = opened?.[0].includes(">") ?? false;
  }
  return Boolean(fence) || lines.at(-1).split("`").length % 2 === 0;
};

/** The name that is being written before the cursor; null: none. @param {string} text @param {number} cursor */
export const begunAt = (text, cursor) => {
  const cut = Math.max(0, cursor - LONGEST);
  const begun = BEGUN.exec(text.slice(cut, cursor));
  if (!begun || isInCode(text.slice(0, cut + begun.index))) return null;
  return { from: cut + begun.index, typed: begun[1] };
};

/**
 * Agents whose names begin with the text, then those whose names contain it; none once it is whole.
 * @template {{name: string}} A @param {A[]} agents @param {string} typed @returns {A[]}
 */
export const meant = (agents, typed) => {
  const wanted = typed.normalize("NFC").toLowerCase(); // as names are stored
  const rank = ({ name }) => name.toLowerCase().indexOf(wanted);
  const found = agents.filter((agent) => rank(agent) >= 0);
  if (found.length === 1 && found[0].name.toLowerCase() === wanted) return [];
  return [...found.filter((one) => !rank(one)), ...found.filter(rank)];
};

/** What to write, and where, to complete the name that begins at `from`; then the cursor's place.
 * @param {string} text @param {number} cursor @param {number} from @param {string} name */
export const completion = (text, cursor, from, name) => {
  const end = cursor + REST.exec(text.slice(cursor))[0].length;
  const isSpaced = /^\s/.test(text.slice(end));
  const written = `@${name}${isSpaced ? "" : " "}`;
  return { written, from, end, cursor: from + written.length + (isSpaced ? 1 : 0) };
};
