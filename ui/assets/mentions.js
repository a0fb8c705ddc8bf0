// Completes agent names in words that begin with @: a list beside the input, used with the keyboard
// or the mouse. The input keeps the focus; screen readers get the options through it
// (aria-activedescendant), and the number of names from a line that is visible to them only.
import { make } from "./elements.js";

const INPUT = 'textarea[data-testid="stChatInputTextArea"]';
const COLOURS = ["--st-text-color", "--st-background-color", "--st-secondary-background-color", "--st-border-color", "--st-font"];
// The same rule as the service's: an address such as a@b.c is not a mention, and words of these
// scripts have no space between them, or carry their endings directly.
const UNSPACED = String.raw`\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u9fff\uac00-\ud7ff\uf900-\ufaff\uff66-\uffdc`;
const BEGUN = new RegExp(String.raw`(?<!(?![${UNSPACED}])[\p{L}\p{M}\p{N}])(?<![.@\uff20/\x60])[@\uff20]([\p{L}\p{M}\p{N}_-]{0,80})$`, "u");
const REST = new RegExp(String.raw`^(?:(?![${UNSPACED}])[\p{L}\p{M}\p{N}_-])*`, "u");
const LIST = "colloquy-mentions";
const GAP = 6; // pixels
const MOST_WIDTH = 420;
const HEIGHT = 320;

// Fences also stand in quotations and in items of lists, at any indentation.
const OPENING = /^[\s>]*(?:(?:[-*+]|\d{1,9}[.)])\s[\s>]*)*(`{3,}(?=[^`]*$)|~{3,})/;
const CLOSING = /^[\s>]*(`{3,}|~{3,})\s*$/;

/** Whether this text ends inside code, where @ is not a mention. */
const isInCode = (text) => {
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

/** The list of one tab. `theme()` returns an element of the page that has the theme's colours. */
export class Mentions {
  constructor(theme) {
    this.theme = theme;
    this.agents = [];
    this.close();
    document.addEventListener("input", ({ target }) => target.matches?.(INPUT) && this.look(target));
    document.addEventListener("selectionchange", () => {
      if (this.area && document.activeElement === this.area) this.look(this.area);
    });
    document.addEventListener("focusout", ({ target }) => target === this.area && this.close());
    // Before the key can send the message or stop a turn.
    document.addEventListener("keydown", (event) => this.press(event), true);
    window.addEventListener("resize", () => this.area && this.place());
    document.addEventListener("scroll", ({ target }) => this.area && target !== this.list && this.place(), true);
  }

  /** The page was drawn: these agents can be mentioned on it. */
  update({ speakers, mentions }) {
    this.agents = mentions ? speakers : [];
    if (!this.agents.length || !this.area?.isConnected) this.close();
    const area = document.activeElement; // typing a name may have started before the page was drawn
    if (area?.matches(INPUT)) this.look(area);
  }

  /** Open, update or close the list, depending on the text before the cursor. */
  look(area) {
    const before = area.value.slice(0, area.selectionStart);
    const begun = area.selectionStart === area.selectionEnd && BEGUN.exec(before);
    if (!begun || !this.agents.length || isInCode(before.slice(0, begun.index))) {
      this.left = null;
      return this.close();
    }
    if (this.left === begun.index) return undefined; // Escape has closed it for this word
    const found = this.find(begun[1]);
    const isWhole = found.length === 1 && found[0].name.toLowerCase() === begun[1].normalize("NFC").toLowerCase();
    if (!found.length || isWhole) return this.close();
    this.area = area;
    this.from = begun.index;
    return this.show(found);
  }

  /** Agents whose names begin with the text, then those whose names contain it. */
  find(typed) {
    const wanted = typed.normalize("NFC").toLowerCase(); // as names are stored
    const rank = ({ name }) => name.toLowerCase().indexOf(wanted);
    const found = this.agents.filter((agent) => rank(agent) >= 0);
    return [...found.filter((one) => !rank(one)), ...found.filter((one) => rank(one))];
  }

  show(found) {
    const before = this.found[this.active]?.name;
    this.found = found;
    this.active = Math.max(0, found.findIndex(({ name }) => name === before));
    if (!this.list) {
      this.list = Object.assign(make("ul", "mentions"), { id: LIST });
      this.list.setAttribute("role", "listbox");
      this.list.setAttribute("aria-label", "Agents");
      this.said = make("div", "mentions-said");
      this.said.setAttribute("role", "status");
      document.body.append(this.list, this.said);
      this.area.setAttribute("aria-autocomplete", "list");
      this.area.setAttribute("aria-controls", LIST);
    }
    this.list.replaceChildren(...found.map((agent, n) => this.option(agent, n)));
    this.said.textContent = found.length === 1 ? "1 agent" : `${found.length} agents`;
    this.mark(this.active);
    this.place();
  }

  option({ name, description, colour, initial }, n) {
    const option = make("li", "mention");
    option.id = `${LIST}-${n}`;
    option.setAttribute("role", "option");
    const face = make("span", "face", initial);
    face.setAttribute("aria-hidden", "true");
    face.style.background = colour;
    const words = make("span", "mention-words");
    words.append(make("b", "mention-name", name), make("span", "mention-about", description));
    option.append(face, words);
    option.addEventListener("pointermove", () => this.active === n || this.mark(n));
    option.addEventListener("mousedown", (event) => event.preventDefault()); // keeps the focus
    option.addEventListener("click", () => this.choose(n));
    return option;
  }

  mark(n) {
    this.active = n;
    [...this.list.children].forEach((one, place) => one.setAttribute("aria-selected", place === n));
    this.area.setAttribute("aria-activedescendant", `${LIST}-${n}`);
    this.list.children[n].scrollIntoView({ block: "nearest" });
  }

  place() {
    const around = this.area.closest('[data-testid="stChatInput"]').getBoundingClientRect();
    const { style } = this.list;
    const theme = getComputedStyle(this.theme() ?? document.body);
    for (const name of COLOURS) style.setProperty(name, theme.getPropertyValue(name));
    style.left = `${around.left}px`;
    style.width = `${Math.min(around.width, MOST_WIDTH)}px`;
    const below = window.innerHeight - around.bottom;
    const isAbove = around.top > Math.min(below, HEIGHT);
    style.top = isAbove ? "auto" : `${around.bottom + GAP}px`;
    style.bottom = isAbove ? `${window.innerHeight - around.top + GAP}px` : "auto";
    style.maxHeight = `${Math.min(HEIGHT, (isAbove ? around.top : below) - 2 * GAP)}px`;
  }

  press(event) {
    if (!this.list || event.target !== this.area) return;
    const { key, shiftKey, ctrlKey, metaKey, altKey } = event;
    if (ctrlKey || metaKey || altKey || shiftKey) return;
    const count = this.found.length;
    const acts = {
      ArrowDown: () => this.mark((this.active + 1) % count),
      ArrowUp: () => this.mark((this.active + count - 1) % count),
      Enter: () => this.choose(this.active),
      Tab: () => this.choose(this.active),
      Escape: () => this.leave(),
    };
    if (!acts[key]) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    acts[key]();
  }

  choose(n) {
    const { area, from } = this;
    const { name } = this.found[n];
    const after = area.value.slice(area.selectionStart);
    const end = area.selectionStart + REST.exec(after)[0].length;
    const space = /^\s/.test(area.value.slice(end)) ? "" : " ";
    this.close();
    area.setRangeText(`@${name}${space}`, from, end, "end");
    if (!space) area.selectionStart = area.selectionEnd += 1;
    area.dispatchEvent(new Event("input", { bubbles: true }));
  }

  /** Close the list until another word begins. */
  leave() {
    this.left = this.from;
    this.close();
  }

  close() {
    this.list?.remove();
    this.said?.remove();
    for (const name of ["aria-autocomplete", "aria-controls", "aria-activedescendant"]) this.area?.removeAttribute(name);
    Object.assign(this, { list: null, said: null, area: null, found: [], active: 0 });
  }
}
