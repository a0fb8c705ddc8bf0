// Plans: which call has started which, the words and signs of their tasks, and their picture. Pure.
/** @import { Block } from "../types.js" */

export const PLAN_TOOLS = { run_plan: "plan", call_agent: "sub_agent" };
/** By status: a word, a sign, an icon and a colour. */
const LOOKS = {
  pending: ["waiting", "○", "schedule", "gray"],
  running: ["running", "▸", "play_arrow", "blue"],
  asking: ["asks you", "?", "help", "orange"],
  succeeded: ["done", "✓", "check", "green"],
  failed: ["failed", "✕", "error", "red"],
  skipped: ["skipped", "↷", "skip_next", "gray"],
  stopped: ["stopped", "■", "stop_circle", "gray"],
};
const APPROVAL = ["needs approval", "!", "approval", "orange"];

/** How a task is shown; one that waits for a decision has its own word. */
export const lookOf = (task) => {
  const [word, sign, icon, colour] = task.waiting_for_approval ? APPROVAL : LOOKS[task.status];
  return { word, sign, icon, colour };
};

/** @template T @param {T[]} all @param {(one: T) => any} keyOf @returns {Map<any, T[]>} */
const grouped = (all, keyOf) => {
  const groups = new Map();
  for (const one of all) groups.set(keyOf(one), [...(groups.get(keyOf(one)) ?? []), one]);
  return groups;
};

/** The plan of each call by its row. Ids of calls may repeat in a turn: then plans go in order, to
 * refused calls last. @param {Block[]} blocks @param {any[]} plans @returns {Map<string, any>} */
export const matchPlans = (blocks, plans) => {
  const keyOf = (...parts) => parts.join(" ");
  const left = grouped(plans, ({ turn_id, call_id, kind }) => keyOf(turn_id, call_id, kind));
  const calls = blocks.filter(({ row }) => row.content_type === "tool_call" && Object.hasOwn(PLAN_TOOLS, row.content.name));
  const found = new Map();
  for (const { row } of calls.toSorted((one, other) => Number(isRefused(one)) - Number(isRefused(other)))) {
    const plan = left.get(keyOf(row.turn_id, row.content.call_id, PLAN_TOOLS[row.content.name]))?.shift();
    if (plan) found.set(row.id, plan);
  }
  return found;
};
const isRefused = ({ result }) => Boolean(result?.content.is_error);

/** A plan's progress: how many tasks are done, and how many are in other states. */
export const planWords = ({ tasks }) => {
  const waiting = tasks.filter((task) => task.waiting_for_approval).length;
  const count = (status) => tasks.filter((task) => task.status === status).length - (status === "running" ? waiting : 0);
  const words = [`${count("succeeded")} of ${tasks.length} ${tasks.length === 1 ? "task" : "tasks"} done`];
  for (const [status, [word]] of Object.entries(LOOKS)) {
    const others = status === "succeeded" ? 0 : count(status);
    if (others) words.push(status === "asking" ? `${others} ${others === 1 ? "asks" : "ask"} you` : `${others} ${word}`);
  }
  if (waiting) words.push(`${waiting} ${waiting === 1 ? "needs" : "need"} approval`);
  return words.join(" · ");
};

/** A task's agent, status, progress and time. @param {any} task @param {(seconds: number) => string} duration @param {number} [now] */
export const taskWords = (task, duration, now = Date.now()) => {
  const words = [task.agent, lookOf(task).word];
  if (task.status === "running" && task.steps) words.push(`step ${task.steps}`);
  if (task.tries > 1) words.push(`try ${task.tries}`);
  if (task.started_at) {
    const end = task.finished_at ? Date.parse(task.finished_at) : now;
    words.push(duration(Math.max(0, (end - Date.parse(task.started_at)) / 1000)));
  }
  return words.join(" · ");
};

/** The text of a task's answer, if its output is or contains one. */
export const answerText = (output) => {
  if (typeof output === "string") return output;
  const named = ["text", "answer", "message", "response"].map((name) => output?.[name]);
  return named.find((text) => typeof text === "string" && text.trim()) ?? null;
};

/** The artifacts that a task's output names. */
export const madeArtifacts = (output) =>
  (Array.isArray(output?.artifacts) ? output.artifacts : []).filter((one) => one?.id);

export const NODE = { width: 160, height: 74 };
const [GAP_X, GAP_Y, EDGE, MOST_CENTRED] = [36, 14, 6, 8];

/** The level of each task, its longest chain of dependencies; a cycle counts once. */
const levelsOf = (tasks) => {
  const waits = new Map(tasks.map(({ temp_id, depends_on }) => [temp_id, depends_on]));
  const levels = new Map();
  while (levels.size < waits.size) {
    const open = [...waits.keys()].filter((id) => !levels.has(id));
    const ready = open.filter((id) => waits.get(id).every((before) => levels.has(before) || !waits.has(before)));
    for (const id of ready.length ? ready : open) {
      levels.set(id, 1 + Math.max(-1, ...waits.get(id).map((before) => levels.get(before) ?? -1)));
    }
  }
  return levels;
};

/** The layout of a plan: a column per level, each task near its dependencies, to the right of all. */
export const layOut = (tasks) => {
  const levels = levelsOf(tasks);
  const columns = grouped(tasks, ({ temp_id }) => levels.get(temp_id));
  const tallest = Math.max(0, ...[...columns.values()].map(({ length }) => length));
  const [rows, places] = [new Map(), new Map()];
  const wanted = ({ depends_on }) => {
    const before = depends_on.filter((id) => rows.has(id)).map((id) => rows.get(id));
    return before.length ? before.reduce((sum, one) => sum + one, 0) / before.length : 0;
  };
  for (let level = 0; level < columns.size; level += 1) {
    const column = columns.get(level).toSorted((one, other) => wanted(one) - wanted(other));
    // A very tall plan is aligned at the top, because its middle may be out of view.
    const first = tallest <= MOST_CENTRED ? (tallest - column.length) / 2 : 0;
    column.forEach(({ temp_id }, number) => {
      rows.set(temp_id, first + number);
      places.set(temp_id, { x: EDGE + level * (NODE.width + GAP_X), y: EDGE + Math.round((first + number) * (NODE.height + GAP_Y)) });
    });
  }
  const lines = tasks.flatMap(({ temp_id, depends_on }) => depends_on.filter((id) => places.has(id)).map((id) => {
    const [from, to] = [places.get(id), places.get(temp_id)];
    const [x, y, end] = [from.x + NODE.width, from.y + NODE.height / 2, to.y + NODE.height / 2];
    const bend = x + Math.floor((to.x - x) / 2);
    return `M${x},${y} C${bend},${y} ${bend},${end} ${to.x},${end}`;
  }));
  const size = (count, one, gap) => (count ? 2 * EDGE + count * (one + gap) - gap : 0);
  return { places, lines, width: size(columns.size, NODE.width, GAP_X), height: size(tallest, NODE.height, GAP_Y) };
};
