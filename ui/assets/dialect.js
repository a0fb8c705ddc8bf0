// The one meaning of Markdown, for what is drawn in the browser. `backend/markdown` has the same
// rules and says why; tests/samples/markdown.yaml has an example of each.
import MarkdownIt from "./vendor/markdown-it.mjs";

const DEEPEST = 16; // nested lists and quotes; deeper content is shown as plain text
// Letters of scripts whose words have no space between them, as `UNSPACED` of `backend/text.py`.
const UNSPACED =
  "\\u0e00-\\u0eff\\u1000-\\u109f\\u1780-\\u17ff\\u3005-\\u9fff\\uac00-\\ud7ff\\uf900-\\ufaff\\uff66-\\uffdc";
const ID = "[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}(?:@\\d{1,9})?";

export const markdown = new MarkdownIt({ html: false, linkify: false, breaks: false });
const { block, core, inline, renderer, utils } = markdown;
markdown.disable(["html_block", "html_inline"]);
const INTERRUPTS = { alt: ["paragraph", "reference", "blockquote", "list"] };
const matchAt = (pattern, { src, pos, posMax }) => {
  pattern.lastIndex = pos;
  const found = pattern.exec(src);
  return found && found.index + found[0].length <= posMax ? found : null;
};

// Emphasis beside scripts without spaces, and between digits.
const CLOSE = new RegExp(
  `[${UNSPACED}\\u1100-\\u11ff\\u3000-\\u3004\\ufe30-\\ufe4f\\uff00-\\uff65\\u{20000}-\\u{3ffff}]`, "u",
);
const isSpace = (sign) => utils.isWhiteSpace(sign.codePointAt(0));
const isPunctuation = (sign) =>
  utils.isMdAsciiPunct(sign.codePointAt(0)) || utils.isPunctChar(sign);
const faces = (inner, outer) =>
  !isSpace(inner)
  && (!isPunctuation(inner) || CLOSE.test(inner) || isSpace(outer) || isPunctuation(outer) || CLOSE.test(outer));
inline.State = class extends inline.State {
  scanDelims(start, canSplitWord) {
    const { src, posMax } = this;
    let end = start;
    while (end < posMax && src[end] === src[start]) end += 1;
    const before = [...src.slice(Math.max(0, start - 2), start)].at(-1) ?? " ";
    const after = end < posMax ? String.fromCodePoint(src.codePointAt(end)) : " ";
    const length = end - start;
    if (src[start] === "*" && /\p{Nd}/u.test(before) && /\p{Nd}/u.test(after)) return { can_open: false, can_close: false, length };
    const opens = faces(after, before), closes = faces(before, after);
    return {
      can_open: opens && (canSplitWord || !closes || isPunctuation(before)),
      can_close: closes && (canSplitWord || !opens || isPunctuation(after)),
      length,
    };
  }
};

// Bare addresses.
const SCHEME = /(?<![A-Za-z0-9])https?$/i;
const ADDRESS = new RegExp(
  "https?://(?=[\\p{L}\\p{N}])"
  + `(?:[\\p{L}\\p{N}_.~:/?#@!$&()+,;=%\\-](?<![${UNSPACED}])|(?<=[/=])[${UNSPACED}]+)+`, "iuy",
);
const findAddress = (state, before) => {
  const found = matchAt(ADDRESS, { ...state, src: state.src, pos: state.pos - before, posMax: state.posMax });
  if (!found) return "";
  let address = found[0], depth = 0;
  for (let place = 0; place < address.length && depth >= 0; place += 1) {
    depth += (address[place] === "(") - (address[place] === ")");
    if (depth < 0) address = address.slice(0, place);
  }
  return address.replace(/[.,:;!?_~&$(]+$/, "");
};
inline.ruler.before("newline", "bare_link", (state, silent) => {
  if (state.src[state.pos] !== ":" || state.linkLevel) return false;
  const before = SCHEME.exec(state.src.slice(Math.max(0, state.pos - 6), state.pos))?.[0].length;
  const address = before ? findAddress(state, before) : "";
  const href = markdown.normalizeLink(address);
  if (address.length <= "https://".length || !markdown.validateLink(href)) return false;
  if (!silent) {
    state.pending = state.pending.slice(0, -before);
    state.push("link_open", "a", 1).attrs = [["href", href]];
    state.push("text", "", 0).content = address;
    state.push("link_close", "a", -1);
  }
  state.pos += address.length - before;
  return true;
});

// Formulas.
const LONGEST = 5_000, REACH = 400;
const SIGN = /[\\^_{=+<>]/, SIGN_WITHIN_LINE = /[\\^_{=]/, WORD = /^[A-Za-z0-9_$]$/;
const isFormula = (content, longest) => content.trim() && !content.includes("$") && content.length <= longest;
const between = ({ src, pos, posMax }, opening, closing, longest, isTrimmed = true) => {
  const start = pos + opening;
  const end = src.indexOf(closing, start);
  if (end < 0 || end + closing.length > Math.min(posMax, start + longest + closing.length)) return null;
  const content = src.slice(start, end);
  if (content.includes("\n") || !isFormula(content, longest)) return null;
  return isTrimmed && content !== content.trim() ? null : [content, end + closing.length];
};
const findFormula = (state) => {
  const opening = state.src.slice(state.pos, state.pos + 2);
  if (opening === "\\(") return between(state, 2, "\\)", LONGEST, false);
  if (opening === "\\[") {
    const found = between(state, 2, "\\]", LONGEST, false);
    return found && SIGN.test(found[0]) ? found : null;
  }
  if (opening === "$$") return between(state, 2, "$$", LONGEST);
  const found = opening[0] === "$" ? between(state, 1, "$", REACH) : null;
  return found && !found[0].endsWith("\\") && SIGN_WITHIN_LINE.test(found[0]) ? found : null;
};
inline.ruler.before("escape", "formula", (state, silent) => {
  if (!"$\\".includes(state.src[state.pos]) || WORD.test(state.src[state.pos - 1] ?? "")) return false;
  const [content, end] = findFormula(state) ?? [];
  if (content === undefined || WORD.test(state.src[end] ?? "")) return false;
  if (!silent) state.push("formula", "code", 0).content = content.trim();
  state.pos = end;
  return true;
});
const CLOSING = { "$$": "$$", "\\[": "\\]" };
const lineOf = (state, line) => state.src.slice(state.bMarks[line] + state.tShift[line], state.eMarks[line]).trimEnd();
block.ruler.before("fence", "formula", (state, first, endLine, silent) => {
  const closing = CLOSING[lineOf(state, first).slice(0, 2)];
  if (!closing || state.sCount[first] - state.blkIndent >= 4) return false;
  const lines = [lineOf(state, first).slice(2)];
  let last = first;
  while (!lines.at(-1).endsWith(closing)) {
    last += 1;
    if (lines.at(-1).includes(closing) || last >= endLine) return false;
    if (state.isEmpty(last) || state.sCount[last] < state.blkIndent) return false;
    lines.push(lineOf(state, last));
  }
  const content = lines.join("\n").slice(0, -closing.length).trim();
  if (!isFormula(content, LONGEST) || (closing === "\\]" && !SIGN.test(content))) return false;
  if (silent) return true;
  Object.assign(state.push("formula", "pre", 0), { block: true, content, map: [first, last + 1] });
  state.line = last + 1;
  return true;
}, INTERRUPTS);
renderer.rules.formula = (tokens, index) => {
  const { tag, content } = tokens[index];
  return `<${tag} class="colloquy-formula">${utils.escapeHtml(content)}</${tag}>`;
};

// Footnotes.
const NOTE = /\[\^([^[\]\s^]{1,40})\](:[ \t]*)?/y;
core.ruler.before("inline", "note", ({ tokens, env }) => {
  env.notes ??= new Set();
  for (const { type, content } of tokens) {
    if (type !== "inline") continue;
    for (const [, label] of content.matchAll(/^[ \t]*\[\^([^[\]\s^]{1,40})\]:/gm)) env.notes.add(label);
  }
});
inline.ruler.before("link", "note", (state, silent) => {
  const found = matchAt(NOTE, state);
  if (!found || !state.env.notes?.has(found[1])) return false;
  if (!silent) {
    const before = state.pending ? null : state.tokens.at(-1);
    const isNote = !state.pending && (!before || /^(soft|hard)break$/.test(before.type));
    if (found[2] && isNote && before) before.type = "hardbreak";
    state.push("note", "sup", 0).content = found[1];
    state.pending += found[2] && isNote ? " " : found[2] ?? "";
  }
  state.pos += found[0].length;
  return true;
});
renderer.rules.note = (tokens, index) => `<sup>${utils.escapeHtml(tokens[index].content)}</sup>`;

// `<br>`, which models write into cells.
const BREAK = /<br ?\/?>/iy;
inline.ruler.before("autolink", "line_break", (state, silent) => {
  const found = matchAt(BREAK, state);
  if (!found) return false;
  if (!silent) state.push("hardbreak", "br", 0);
  state.pos += found[0].length;
  return true;
});

// Links: to the web, to mail, to cells of artifacts. Of others the text remains; of images, a link.
const DEFINED = /^ {0,3}\[[^[\]^][^[\]]*\]:[ \t]*<?(?:https?:\/\/|mailto:|artifact:)/i;
const reference = block.ruler.__rules__.find(({ name }) => name === "reference").fn;
block.ruler.at("reference", (state, line, ...rest) =>
  DEFINED.test(state.src.slice(state.bMarks[line], state.eMarks[line])) && reference(state, line, ...rest));
const LINKED = new RegExp(`^(?:https?:|mailto:|artifact:${ID}(?:#.*)?$)`, "i");
const CELL = new RegExp(
  `!?\\[([^\\[\\]\\n]{1,300})\\]\\(<?(artifact:${ID}(?:#(?:[^()\\s<>]|\\([^()\\s<>]{0,80}\\)|[ ](?!"))*)?)>?`
  + '(?: +"[^"\\n]{0,200}")?\\)', "y",
);
inline.ruler.before("link", "cell", (state, silent) => {
  if (state.linkLevel || !"![".includes(state.src[state.pos])) return false;
  const found = matchAt(CELL, state);
  if (!found) return false;
  const end = state.pos + found[0].length, { posMax } = state;
  if (!silent) {
    state.push("link_open", "a", 1).attrs = [["href", markdown.normalizeLink(found[2])]];
    state.pos = state.src.indexOf("[", state.pos) + 1;
    state.posMax = state.pos + found[1].length;
    state.linkLevel += 1;
    inline.tokenize(state);
    state.linkLevel -= 1;
    state.posMax = posMax;
    state.push("link_close", "a", -1);
  }
  state.pos = end;
  return true;
});
const wordsOf = (Token, image) => Object.assign(new Token("text", "", 0), { content: image.content || image.attrGet("src") || "" });
const linkOf = (Token, image) => {
  const words = wordsOf(Token, image), href = image.attrGet("src") ?? "";
  if (!LINKED.test(href)) return [words];
  return [Object.assign(new Token("link_open", "a", 1), { attrs: [["href", href]] }), words, new Token("link_close", "a", -1)];
};
const withoutOthers = (Token, tokens) => {
  let link = null; // the target of the current link; "": one that is not linked
  return tokens.flatMap((token) => {
    if (token.type === "link_open") link = LINKED.test(token.attrGet("href")) ? token.attrGet("href") : "";
    const isKept = link || !/^link_(open|close)$/.test(token.type);
    const kept = token.type !== "image" ? (isKept ? [token] : []) : link === null ? linkOf(Token, token) : [wordsOf(Token, token)];
    if (token.type === "link_close") link = null;
    return kept;
  });
};
core.ruler.push("plain_links", ({ tokens, Token }) => {
  for (const token of tokens) if (token.children) token.children = withoutOthers(Token, token.children);
});

block.ruler.before("table", "too_deep", (state, line, endLine) => {
  if (state.level < DEEPEST) return false;
  state.line = endLine;
  state.push("paragraph_open", "p", 1).map = [line, endLine];
  const content = state.getLines(line, endLine, state.blkIndent, false).trim();
  Object.assign(state.push("inline", "", 0), { content, map: [line, endLine], children: [] });
  state.push("paragraph_close", "p", -1);
  return true;
});

/** Return what a text defines for all of its parts: addresses of links, and which notes it has. */
export const definitionsOf = (text) => {
  const env = {};
  if (/^[ \t>]*\[[^\]]+\]:/m.test(text)) markdown.parse(text, env);
  return { references: env.references, notes: env.notes };
};
