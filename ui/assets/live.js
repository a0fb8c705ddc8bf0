// The live part of a chat: a person's message from the moment they press Enter, and the answer
// while it streams. It follows the pages' own event route, so reruns of the page do not disturb it,
// and asks the page to draw what is stored. Its frames are described in
// `ui/features/chat/live/frames.py`.
import { Attention } from "./attention.js";
import { EarlyStop } from "./early_stop.js";
import { Editing } from "./editing.js";
import { make } from "./elements.js";
import { StreamingText } from "./markdown.js";
import { Mentions } from "./mentions.js";
import { hasDialog, mayRedraw } from "./rest.js";
import { Sending } from "./sending.js";
import { Thoughts } from "./thoughts.js";

const RETRY_MS = [200, 500, 1000, 2000];
const REDRAW_MS = 150; // minimum time between two requests to draw what is stored
const FIRST_WORDS_MS = 250; // the sent message is on the page already: a run must not delay its answer
const ASK_AGAIN_MS = 2000; // a request may be lost when it coincides with a rerun
const COSTLY_MS = 16;
const REST_MS = 20;
const GATHER_MS = 100; // a stored row is on the page already; the end of its turn may follow soon
const GONE = 4404;
const SIGNED_OUT = 4401;

/** Show the messages that were sent, unless they are shown already. */
const putSent = (place, messages) => {
  if (messages.length === place.childElementCount && messages.every((one, n) => one === place.children[n].message)) return;
  place.replaceChildren(...messages.map((message) => Object.assign(make("div", "sent", message.text), { message })));
};

/** A streaming message: text as Markdown, thinking in a box of its own. */
class Draft {
  constructor({ kind, turn, agent, task }) {
    Object.assign(this, { turn, agent, task, hasEnded: false, isStale: true });
    this.text = kind === "text" ? new StreamingText() : new Thoughts();
    this.element = make("div", "draft");
    this.face = this.element.appendChild(make("div", "face"));
    this.name = this.element.appendChild(make("div", "agent"));
    this.element.append(this.text.element);
  }

  add(text) {
    this.text.add(text);
    this.isStale = true;
  }

  /** Show the agent: `speaker` is its mark, null where it is not needed or the agent is unchanged.
     */
  says(name, speaker, why) {
    this.name.replaceChildren(speaker ? make("b", "agent-name", name) : name, why ? ` · ${why}` : "");
    this.face.hidden = !speaker;
    this.face.textContent = speaker?.initial ?? "";
    this.face.style.background = speaker?.colour ?? "";
    this.element.classList.toggle("colloquy-speaks", Boolean(speaker));
  }

  /** Draw the new part. */
  draw() {
    if (!this.isStale) return;
    this.isStale = false;
    this.text.draw();
  }
}

/** The state of one session as its frames report it, for as long as its page is open. */
class Session {
  constructor(id) {
    this.id = id;
    this.drafts = new Map();
    this.undrawn = new Set(); // rows that are stored but not drawn by the page yet
    this.status = { text: "", details: "", notice: "" };
    this.failures = 0;
    if (id) this.connect();
  }

  connect() {
    const url = new URL("/colloquy/live", location.origin);
    url.protocol = url.protocol.replace("http", "ws");
    url.searchParams.set("session", this.id);
    const socket = (this.socket = new WebSocket(url));
    socket.onmessage = ({ data }) => {
      this.failures = 0;
      for (const frame of JSON.parse(data)) this.take(frame);
      live.show();
    };
    socket.onclose = ({ code }) => {
      if (code === SIGNED_OUT) window.colloquySignIn.check();
      if (this.isClosed || code === GONE) return;
      const wait = RETRY_MS[Math.min(this.failures++, RETRY_MS.length - 1)];
      setTimeout(() => this.isClosed || this.connect(), wait);
    };
  }

  close() {
    this.isClosed = true;
    this.socket?.close();
  }

  take(frame) {
    const { kind, id } = frame;
    if (kind === "begin") {
      this.drafts.clear();
      // A turn may have ended, or begun, since the page read what is stored.
      if (frame.active !== live.data.active) live.redraw();
    }
    if (kind === "text" || kind === "thinking") {
      if (!this.drafts.has(id)) this.drafts.set(id, new Draft(frame));
      this.drafts.get(id).add(frame.text);
    }
    if (kind === "void") this.void(id);
    if (kind === "status") {
      if (this.status.away && !frame.away) live.sending.problem = null;
      this.status = frame;
    }
    if (kind === "ended") {
      for (const draft of this.drafts.values()) draft.hasEnded ||= draft.turn === frame.turn;
    }
    if (kind === "stored" && this.drafts.has(id)) this.undrawn.add(id);
    if (kind === "news") live.attention.tell(frame.text);
    if (kind === "ended") live.redraw();
    if (kind === "stored" || kind === "changed") live.redraw(GATHER_MS);
  }

  void(id) {
    // Messages of tasks are removed by id: their turns do not restart with this one.
    const own = () => [...this.drafts.keys()].filter((one) => !this.drafts.get(one).task);
    for (const one of id ? [id] : own()) {
      if (!this.undrawn.has(one)) this.drafts.delete(one);
    }
  }

  /** Drop the messages that the page has drawn from stored rows. */
  drawn({ drawn, active }) {
    for (const id of drawn) {
      this.undrawn.delete(id);
      this.drafts.delete(id);
    }
    for (const [id, draft] of this.drafts) {
      if (draft.hasEnded && draft.turn !== active) this.drafts.delete(id);
    }
  }
}

/** The one live part of a browser tab, wherever the page currently places it. */
class Live {
  constructor() {
    this.session = new Session(null);
    this.cost = 0;
    this.attention = new Attention();
    this.earlyStop = new EarlyStop();
    this.editing = new Editing();
    this.mentions = new Mentions(() => this.place); // handles keys before `Sending` does
    this.sending = new Sending(({ turn }) => {
      if (this.place) this.draw(this.place);
      window.colloquyFollowing.toEnd();
      if (turn) this.redraw();
      if (!this.sending.problem) return this.earlyStop.press();
      this.earlyStop.forget();
      this.place?.querySelector(".colloquy-refusal").scrollIntoView({ block: "nearest" }); // a new chat is at its top
    });
  }

  /** Stop the message just sent as soon as possible: Escape came before the Stop button. */
  stopSoon() {
    const [first] = this.sending.shown; // of several messages, the one that runs first
    if (first) this.earlyStop.keep(first);
  }

  /** The page was drawn: `data` says what it shows. Return the cleanup for when its place is
     removed. */
  mount({ data, parentElement, setTriggerValue }) {
    const place = parentElement.querySelector(".colloquy-live");
    if (data.session !== this.session.id) {
      if (this.session.id) window.colloquyFollowing.open();
      this.session.close();
      this.session = new Session(data.session);
    }
    Object.assign(this, { place, data, set: setTriggerValue });
    this.sending.update(data);
    this.mentions.update(data);
    this.earlyStop.update(data);
    this.editing.update(data.edit);
    this.session.drawn(data);
    this.isAsked = false;
    this.draw(place);
    if (this.isWanted || this.sending.shown.some((one) => one.turn)) this.redraw();
    return () => {
      if (this.place !== place) return;
      this.place = null;
      this.sending.leave();
    };
  }

  /** Ask the page to draw what is stored, within `wait` ms, and ask again if it does not. */
  redraw(wait = REST_MS) {
    this.isWanted = true;
    if (this.isAsked) return;
    const first = Math.max((this.askedAt ?? 0) + REDRAW_MS, this.sending.lastAt + FIRST_WORDS_MS);
    const at = Math.max(first, Date.now() + wait);
    if (this.timer && this.due <= at) return;
    clearTimeout(this.timer);
    this.due = at;
    this.timer = setTimeout(() => this.ask(), at - Date.now());
  }

  ask() {
    this.timer = 0;
    if (!this.place) return;
    // A request that coincides with a click carries the old address, and would navigate back to it.
    if (!mayRedraw()) {
      this.redraw();
      return;
    }
    Object.assign(this, { isAsked: true, isWanted: false, askedAt: Date.now() });
    const { beginning } = this.sending;
    if (beginning) this.set("begun", beginning);
    else this.set("changed", this.askedAt);
    clearTimeout(this.unanswered);
    this.unanswered = setTimeout(() => {
      if (!this.isAsked) return;
      this.isAsked = false;
      this.redraw();
    }, ASK_AGAIN_MS);
  }

  /** Draw soon; long texts are drawn less often, so that the page stays responsive. */
  show() {
    if (this.isDue) return;
    this.isDue = true;
    const draw = () => {
      this.isDue = false;
      const began = performance.now();
      if (this.place) this.draw(this.place);
      this.cost = performance.now() - began;
    };
    if (this.cost > COSTLY_MS) setTimeout(draw, 2 * this.cost);
    else requestAnimationFrame(draw);
  }

  /** Name the agent where it changes; in a session with one agent, only where it is a different one.
     */
  name(drafts) {
    const { agent, speakers, reasons, lastSpeaker } = this.data;
    const first = drafts.values().next().value;
    let before = lastSpeaker;
    for (const draft of drafts.values()) {
      if (!speakers.length) {
        draft.says(draft.agent === (agent ?? first.agent) ? "" : draft.agent);
        continue;
      }
      const own = { colour: "", initial: draft.agent[0], ...speakers.find(({ name }) => name === draft.agent) };
      const { why } = reasons[draft.turn]?.agent === draft.agent ? reasons[draft.turn] : {};
      if (draft.agent === before && !draft.task) draft.says("");
      else draft.says(draft.agent, own, draft.task ?? why);
      before = draft.agent;
    }
  }

  draw(place) {
    const { drafts, status } = this.session;
    const { shown, problem } = this.sending;
    const [sent, answer, notice, words, refusal, queued] = place.children;
    document.body.toggleAttribute("data-colloquy-sending", shown.length > 0);
    const { active } = this.data;
    const isOfNext = ({ turn }) => active && (this.data.early || turn !== active);
    const waits = (message, n) => n > 0 || isOfNext(message);
    putSent(sent, shown.filter((message, n) => !waits(message, n)));
    putSent(queued, shown.filter(waits));
    refusal.textContent = problem ? `${problem.title}. ${problem.detail ?? ""}` : "";
    refusal.hidden = !problem;
    this.name(drafts);
    for (const draft of drafts.values()) draft.draw();
    // The page puts the next turn's message above its answer in a moment, unless a dialog is open.
    const isEarly = (draft) => !draft.task && isOfNext(draft) && !hasDialog();
    const wanted = [...drafts.values()].filter((draft) => !isEarly(draft)).map(({ element }) => element);
    const body = answer.lastElementChild;
    if (wanted.length !== body.childElementCount || wanted.some((one, n) => one !== body.children[n])) {
      body.replaceChildren(...wanted);
      for (const { text } of drafts.values()) text.settle?.();
    }
    answer.hidden = !wanted.length;
    const isNew = !this.data.framed;
    answer.classList.toggle("colloquy-new", isNew);
    answer.classList.toggle("colloquy-named", this.data.speakers.length > 0);
    notice.textContent = status.notice;
    // A screen reader says what the turn is doing, not how the time goes by.
    const [activity, details] = words.children;
    if (activity.textContent !== status.text) activity.textContent = status.text;
    details.textContent = status.details;
    notice.hidden = !status.notice;
    words.hidden = !status.text;
    this.attention.draw(words, Boolean(status.text));
  }
}

const live = (window.colloquyLive ??= new Live());

export const mount = (component) => live.mount(component);
