// What is said of an answer: which agent gave it and why, and what its turn used. Pure.
import { oneLine } from "../formats.js";
/** @import { Group } from "../types.js" */

const SHORT = { asked: "chosen", mention: "mentioned", continues: "continues", manager: "manager", handed_over: "handed over", pending: "" };

/** Why a turn was routed to its agent, in a word or two. @param {any} route @param {string | undefined} manager */
export const shortReason = (route, manager) => {
  const by = route?.reason === "handed_over" ? route.candidate ?? manager : null;
  return by ? `by ${by}` : SHORT[route?.reason] ?? "";
};

const byManager = ({ candidate, answer }, agent) => {
  if (!candidate || !answer) return `The message names no agent, so ${agent} took it.`;
  if (answer === "NO") return `The message does not continue with ${candidate}, so ${agent} took it.`;
  return `It was unclear whether to continue with ${candidate}, so ${agent} took it.`;
};
const SENTENCES = {
  asked: (_, agent) => `The message was sent to ${agent}.`,
  mention: (_, agent) => `The message mentions ${agent}.`,
  continues: (_, agent) => `The message continues with ${agent}.`,
  manager: byManager,
  handed_over: ({ candidate }, agent, manager) => `${candidate ?? manager} handed the turn to ${agent}.`,
  pending: () => "The agent that answers is still being chosen.",
};

/** The same as a sentence, with the tokens that the decision used. @param {any} route @param {string} agent
 * @param {string | undefined} manager @param {import("../formats.js").Reader} reader */
export const reasonSentence = (route, agent, manager, reader) => {
  const said = [SENTENCES[route.reason]?.(route, agent, manager ?? "The manager") ?? ""];
  if (route.detail) said.push(`${route.detail.replace(/\.+$/, "")}.`);
  const tokens = (route.usage?.input_tokens ?? 0) + (route.usage?.output_tokens ?? 0);
  if (tokens) said.push(`Asking a model about it took ${reader.number(tokens)} tokens.`);
  return said.join(" ");
};

/**
 * The route that is told with each group, by the id of its first row: at the first message of an agent
 * in a turn. @param {Group[]} groups @param {Map<string, {agent: string | null, route: any}>} turns
 */
export const routesOf = (groups, turns) => {
  const explained = new Set();
  const found = new Map();
  for (const { agent, blocks: [{ row }] } of groups) {
    const assigned = turns.get(row.turn_id);
    const isItsOwn = assigned?.route && (assigned.agent === null || assigned.agent === agent);
    if (!agent || !isItsOwn || explained.has(row.turn_id)) continue;
    explained.add(row.turn_id);
    found.set(row.id, assigned.route);
  }
  return found;
};

/** gpt-4o · 14:05 · 12 s · 3,214 tokens in, 210 out. The model is the one that answered.
 * @param {any} figures @param {import("../formats.js").Reader} reader */
export const figuresWords = ({ model, finished_at, seconds, usage }, reader) => {
  const words = model ? [oneLine(model, 60)] : [];
  words.push(reader.moment(finished_at));
  if (seconds !== null) words.push(reader.duration(seconds));
  if (usage.input_tokens || usage.output_tokens) {
    words.push(`${reader.number(usage.input_tokens)} tokens in, ${reader.number(usage.output_tokens)} out`);
  }
  return words.join(" · ");
};
