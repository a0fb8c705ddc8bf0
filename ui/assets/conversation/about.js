// What the API says of a session beside its rows: other versions of its messages, its agents, the
// figures of its turns, its plans and artifacts. Read when something on the page needs it, and again
// when the session has changed; without it the page is shown all the same.
import { Problem } from "./api.js";
import { toBlocks } from "./blocks.js";
import { PLAN_TOOLS, matchPlans } from "./acts/plans.js";
import { computed, effect, signal } from "./html.js";
/** @import { Conversation } from "./store.js" */

const MOST_PAGES = 5; // of artifacts

const namesArtifact = ({ content_type, content }) =>
  content_type === "artifact" || (content_type === "text" && String(content.text ?? "").includes("artifact:"));
const startsPlan = ({ content_type, content }) => content_type === "tool_call" && Object.hasOwn(PLAN_TOOLS, content.name);

export class About {
  /** @param {Conversation} conversation */
  constructor(conversation) {
    this.conversation = conversation;
    this.versions = signal(/** @type {Map<number, any[]>} */ (new Map())); // by the position of a message
    this.agents = signal(/** @type {any[]} */ ([]));
    this.figures = signal(/** @type {Map<string, any>} */ (new Map())); // by turn
    this.plans = signal(/** @type {any[]} */ ([]));
    this.artifacts = signal(/** @type {Map<string, any>} */ (new Map()));
    this.ended = ""; // the session's state when no turn ran
    this.keys = new Map(); // what each of these was read for
    /** The plan of each call on the page, by its row. */
    this.planOf = computed(() => matchPlans(toBlocks(this.#rows()), this.plans.value));
    /** The agent and the route of each turn. */
    this.turns = computed(() => new Map([
      ...[...this.figures.value.values()].map((one) => [one.turn_id, one]),
      ...conversation.turns.value.map((turn) => [turn.id, turn]),
    ]));
    effect(() => this.#look());
    conversation.heard.add(({ event, data }) => event === "task_updated" && this.take(data.task));
  }

  get manager() {
    return this.agents.value.find(({ is_manager }) => is_manager)?.name;
  }

  /** Whether answers name their agent: with a single agent there is no need. */
  get isNamed() {
    return this.agents.value.length > 1 || Boolean(this.manager);
  }

  /** A task of a plan is in another state. @param {any} task */
  take(task) {
    const isIts = (one) => one.id === task.id;
    if (!this.plans.value.some(({ tasks }) => tasks.some(isIts))) return void this.readPlans();
    this.plans.value = this.plans.value.map((plan) => (plan.tasks.some(isIts)
      ? { ...plan, tasks: plan.tasks.map((one) => (isIts(one) ? task : one)) } : plan));
  }

  /** Read the plans again: somebody has decided on one of their tasks. */
  readPlans() {
    return this.#keep("plans", Symbol("now"), async () => (await this.#ask("tasks")).items);
  }

  /** What the person thinks of a turn has changed. @param {string} turn @param {any} feedback */
  setFeedback(turn, feedback) {
    const its = this.figures.value.get(turn);
    if (its) this.figures.value = new Map(this.figures.value).set(turn, { ...its, feedback });
  }

  #rows() {
    return this.conversation.page.value?.items ?? [];
  }

  #ask(path, params = {}) {
    return this.conversation.ask(`${this.conversation.path}/${path}`, params);
  }

  #look() {
    const session = this.conversation.session.value;
    const rows = this.#rows();
    if (!session || this.conversation.id === null) return; // who reads by a link sees what was said
    const state = `${session.updated_at} ${session.status}`;
    this.#keep("agents", "", async () => (await this.#ask("agents")).items);
    if (session.branch !== null) this.#keep("versions", `${state} ${session.branch}`, () => this.#readVersions());
    // Of a turn that runs, the turn itself is known; when it ends, all have their last figures.
    const running = new Set(this.conversation.turns.value.map(({ id }) => id));
    const turns = [...new Set(rows.map(({ turn_id }) => turn_id))].filter((id) => id && !running.has(id)).sort();
    if (!running.size) this.ended = state;
    if (turns.length) this.#keep("figures", `${this.ended} ${turns}`, () => this.#readFigures(turns));
    const last = rows.at(-1);
    const newest = `${state} ${last?.id} ${last?.status}`;
    if (rows.some(startsPlan)) this.#keep("plans", newest, async () => (await this.#ask("tasks")).items);
    if (rows.some(namesArtifact)) this.#keep("artifacts", newest, () => this.#readArtifacts());
  }

  async #readVersions() {
    const { items } = await this.#ask("branches");
    return new Map(items.flatMap(({ versions }) => versions.map(({ position }) => [position, versions])));
  }

  async #readFigures(turns) {
    const { items } = await this.#ask("usage/turns", { ids: turns.join(",") });
    return new Map(items.map((one) => [one.turn_id, one]));
  }

  async #readArtifacts() {
    const found = [];
    let cursor = null;
    for (let pages = 0; pages < MOST_PAGES && cursor !== undefined; pages += 1) {
      const page = await this.#ask("artifacts", { limit: 100, cursor });
      found.push(...page.items);
      cursor = page.next_cursor ?? undefined;
    }
    return new Map(found.map((one) => [one.id, one]));
  }

  /** Read one of these for `key`, unless that was done; of several readings, the latest counts. */
  async #keep(name, key, read) {
    if (this.keys.get(name) === key) return;
    this.keys.set(name, key);
    try {
      const value = await read();
      if (this.keys.get(name) === key) this[name].value = value;
    } catch (problem) {
      if (!(problem instanceof Problem)) throw problem;
      if (this.keys.get(name) === key) this.keys.delete(name); // with the next change
    }
  }
}

/** @type {WeakMap<Conversation, About>} */
const known = new WeakMap();

/** @param {Conversation} conversation @returns {About} */
export const aboutOf = (conversation) => {
  if (!known.has(conversation)) known.set(conversation, new About(conversation));
  return known.get(conversation);
};
