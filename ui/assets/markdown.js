// Draws an answer while it streams: Markdown to elements that can neither run code nor load
// anything. Finished paragraphs are drawn once; only the last one is redrawn.
import { definitionsOf, markdown } from "./dialect.js";
import DOMPurify from "./vendor/dompurify.mjs";

const LONG_CHARS = 20_000;
const OPENED_BY = { fence: 1, table_open: 2 }; // lines, by the parser's name of the block
const MOST_OPENING_CHARS = 2_000;
const MOST_CELLS = 5_000; // of a table that is drawn as a table: the page has the same limit

// A link to a cell of an artifact points to this page, where the panel opens: see
// artifact_links.js.
const CELL = /^artifact:([0-9a-f-]{36}(?:@\d{1,9})?)(?:#(.*))?$/i;
markdown.renderer.rules.link_open = (tokens, index, options, env, self) => {
  const token = tokens[index];
  const [, artifact, cell] = CELL.exec(token.attrGet("href") ?? "") ?? [];
  const session = artifact && new URLSearchParams(location.search).get("session");
  if (session) {
    const said = new URLSearchParams(cell);
    const query = new URLSearchParams({ session, artifact });
    for (const name of ["row", "column"]) if (said.has(name)) query.set(name, said.get(name));
    token.attrSet("href", `?${query}`);
  }
  return self.renderToken(tokens, index, options);
};

// Rows are padded to the widest one: a short text may produce very many cells.
const hasTooManyCells = (text) => {
  const bars = text.split("\n").map((line) => line.split("|").length - 1).filter(Boolean);
  return bars.length * bars.reduce((most, one) => Math.max(most, one), 0) > MOST_CELLS;
};

const asWritten = (text) => {
  const made = document.createDocumentFragment();
  made.appendChild(document.createElement("pre")).textContent = text;
  return made;
};

// Of styles only the side is kept on which a column's cells stand, as numbers do right.
DOMPurify.addHook("uponSanitizeAttribute", (_, attribute) => {
  if (attribute.attrName === "style")
    attribute.keepAttr = /^text-align:(left|center|right)$/.test(attribute.attrValue);
});

const toElements = (text, definitions) => {
  if (hasTooManyCells(text)) return asWritten(text);
  const { references, notes } = definitions;
  const made = DOMPurify.sanitize(markdown.render(text, { references: { ...references }, notes: new Set(notes) }), {
    RETURN_DOM_FRAGMENT: true,
    FORBID_TAGS: ["img", "style", "form", "input", "button", "iframe", "video", "audio", "picture"],
    FORBID_ATTR: ["id", "name"],
  });
  for (const link of made.querySelectorAll("a")) {
    link.target = "_blank";
    link.rel = "noopener noreferrer";
  }
  window.colloquyFormulas?.draw(made);
  return made;
};

// What a line opens that later lines may belong to: a fence, named by its mark. (A formula has no
// blank line, so it is never cut.)
const fenceOf = (line) => {
  const [, mark = "", rest = ""] = line.match(/^ {0,3}(`{3,}|~{3,})(.*)/) ?? [];
  return mark.startsWith("`") && rest.includes("`") ? "" : mark;
};

// Code may end a line with the mark: only a line of nothing else closes a fence.
const closes = (line, fence) => {
  const said = line.trim();
  return said.startsWith(fence) && !said.replaceAll(fence[0], "");
};

// Where the text may be cut: after a blank line before a line that is neither indented nor part of
// a list, a quote or a table; never within a fence.
const finishedLength = (text) => {
  let cut = 0, fence = "", isBlank = false, place = 0;
  for (const line of text.split("\n")) {
    if (!fence && isBlank && /^[^\s\-*+\d>|]/.test(line)) cut = place;
    if (!fence) fence = fenceOf(line);
    else if (closes(line, fence)) fence = "";
    isBlank = !line.trim();
    place += line.length + 1;
  }
  return cut;
};

// A block without an end is cut, so that the cost of each further piece does not grow: before its
// last whole line, so that the rest is never an empty block; within a line only if there is one.
const tooLongLength = (text, least) => {
  if (text.length <= LONG_CHARS) return 0;
  const last = text.lastIndexOf("\n");
  const ends = [text.lastIndexOf("\n", last - 1) + 1, last + 1, text.lastIndexOf(" ") + 1];
  return ends.find((end) => end > least) ?? text.length;
};

// The lines that open the block in which the text ends, to be repeated before the rest of it: of a
// code block its fence, of a table its head. "" for other blocks, which can go on as they are.
const openingOf = (text) => {
  const lines = text.split("\n");
  if (!lines.at(-1)) lines.pop();
  const block = markdown.parse(text, {}).findLast(({ type }) => OPENED_BY[type]);
  if (block?.map[1] !== lines.length) return "";
  const [first, end] = block.map;
  if (block.type === "fence" && end - first > 1 && closes(lines[end - 1], block.markup)) return "";
  const opening = lines.slice(first, first + OPENED_BY[block.type]).join("\n") + "\n";
  const isDeep = /^(\t| {4})/.test(opening); // within a list: it would be code by its indentation
  return isDeep || opening.length > MOST_OPENING_CHARS ? "" : opening;
};

const isAlike = (one, other) =>
  one.nodeName === other.nodeName && one.attributes?.length === other.attributes?.length
  && [...(one.attributes ?? [])].every(({ name, value }) => other.getAttribute(name) === value);

/** Make a parent's nodes from `first` on equal to those of another, keeping equal nodes in place: a
 * link that is being clicked, text that is being selected. */
const become = (parent, first, wanted) => {
  let node = first;
  for (const next of [...wanted.childNodes]) {
    if (!node || !isAlike(node, next)) {
      parent.insertBefore(next, node);
      continue;
    }
    if (node.nodeType === Node.TEXT_NODE) extend(node, next.data);
    else become(node, node.firstChild, next);
    node = node.nextSibling;
  }
  while (node) {
    const following = node.nextSibling;
    node.remove();
    node = following;
  }
};

// Appending text leaves a selection in the text before it intact.
const extend = (node, text) => {
  if (text.startsWith(node.data)) node.appendData(text.slice(node.data.length));
  else node.data = text;
};

/** One streaming text, drawn into an element of its own. */
export class StreamingText {
  constructor() {
    this.element = document.createElement("div");
    this.element.className = "colloquy-text colloquy-prose";
    this.text = "";
    this.drawn = 0; // characters of the text whose drawing is final
    this.nodes = 0; // the element's nodes that hold them
    this.opening = ""; // lines that open the block to which the characters after them belong
    this.definitions = {};
  }

  add(text) {
    this.text += text;
  }

  draw() {
    this.define();
    const { definitions, opening } = this;
    const rest = opening + this.text.slice(this.drawn);
    let finished = finishedLength(rest);
    if (finished) {
      this.opening = "";
    } else if ((finished = tooLongLength(rest, opening.length))) {
      this.opening = openingOf(rest.slice(0, finished));
    }
    const wanted = document.createDocumentFragment();
    if (finished) wanted.append(toElements(rest.slice(0, finished), definitions));
    const nodes = wanted.childNodes.length;
    const open = rest.slice(finished);
    wanted.append(toElements(finished && open ? this.opening + open : open, definitions));
    become(this.element, this.element.childNodes[this.nodes] ?? null, wanted);
    this.drawn += finished && finished - opening.length;
    this.nodes += nodes;
  }

  /** What is defined at the end of a text, as notes are, also holds for what is drawn already. */
  define() {
    if (this.text.length > LONG_CHARS) return;
    const definitions = definitionsOf(this.text);
    const said = ({ references = {}, notes = [] }) => JSON.stringify([references, [...notes]]);
    if (said(definitions) === said(this.definitions)) return;
    Object.assign(this, { definitions, drawn: 0, nodes: 0, opening: "" });
  }
}
