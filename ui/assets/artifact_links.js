// Links to artifacts open the panel beside the chat without reloading the page: elements that are
// open there stay open. With a modifier key held, or in another tab, they work like any other link.
const PANEL = ".st-key-artifact-panel";
const NARROW = "(max-width: 1099px)"; // there the panel covers the page: `artifact_panel.css`
const MOST_LOOKS = 100;
const LINK = 'a[href*="artifact="]';
const STILL = 4; // pixels that the pointer may move between press and release
const LAYERS = '[role="listbox"], [role="menu"], [data-testid="stPopoverBody"]';

class Links {
  constructor() {
    document.addEventListener("pointerdown", (event) => (this.pressed = event), true);
    document.addEventListener("click", (event) => this.click(event), true);
    document.addEventListener("keydown", (event) => this.key(event), true);
    matchMedia(NARROW).addEventListener("change", () => this.name());
  }

  mount({ data, setTriggerValue }) {
    const isNew = this.data?.session === data.session && this.data.openings !== data.openings;
    const isClosed = this.data?.isOpen && !data.isOpen;
    Object.assign(this, { data, set: setTriggerValue });
    this.looks = 0;
    this.makeRoom(data.isOpen);
    if (data.isOpen) this.find(isNew);
    if (isClosed && this.from?.isConnected) this.from.focus();
    if (isClosed) this.from = null;
    return () => {
      if (this.set !== setTriggerValue) return;
      this.set = null;
      this.makeRoom(false);
    };
  }

  /** Make the chat narrower beside an open panel. */
  makeRoom(isOpen) {
    document.body.toggleAttribute("data-colloquy-panel", isOpen);
  }

  click(event) {
    if (event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const link = event.target.closest?.(LINK) ?? this.left(event);
    if (!link || !this.set) return;
    const { origin, pathname, searchParams } = new URL(link.href);
    if (origin !== location.origin || searchParams.get("session") !== this.data.session) return;
    if (pathname !== location.pathname) return;
    event.preventDefault();
    event.stopPropagation();
    if (!link.closest(PANEL)) this.from = link;
    this.set("asked", { ...Object.fromEntries(searchParams), at: Date.now() });
  }

  /** The link that was pressed but has since moved from under the pointer, as in a growing text. */
  left({ clientX, clientY, detail }) {
    const { target, clientX: x, clientY: y } = this.pressed ?? {};
    const isStill = detail && target && Math.hypot(clientX - x, clientY - y) < STILL;
    return (isStill && target.isConnected && target.closest?.(LINK)) || null;
  }

  /** Close the panel on Escape where it covers the page. */
  key(event) {
    const panel = event.key === "Escape" && this.set && document.querySelector(PANEL);
    if (!panel || panel.getAttribute("role") !== "dialog") return;
    if (document.querySelector(LAYERS)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    this.set("closed", Date.now());
  }

  /** The panel is drawn after this: label it for screen readers, and move the focus to it. */
  find(goes) {
    const panel = this.name();
    if (panel && goes) {
      panel.focus({ preventScroll: true });
      // The chat has become narrower: keep the clicked link in view.
      requestAnimationFrame(() => this.from?.scrollIntoView({ block: "nearest" }));
    } else if (!panel && this.looks++ < MOST_LOOKS) {
      requestAnimationFrame(() => this.find(goes));
    }
  }

  name() {
    const panel = document.querySelector(PANEL);
    if (!panel) return null;
    const isNarrow = matchMedia(NARROW).matches;
    panel.setAttribute("role", isNarrow ? "dialog" : "complementary");
    if (isNarrow) panel.setAttribute("aria-modal", "true");
    else panel.removeAttribute("aria-modal");
    panel.setAttribute("aria-label", "Artifacts");
    panel.tabIndex = -1;
    return panel;
  }
}

const links = (window.colloquyArtifactLinks ??= new Links());

export const mount = (component) => links.mount(component);
