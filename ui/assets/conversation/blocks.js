// Groups display messages for drawing: by speaker, tool calls with their results, and the finished
// steps of a turn. Pure.
/** @import { Block, DisplayMessage, Group } from "./types.js" */

const WRITE_TODOS = "write_todos";
const PLAN_TOOLS = ["run_plan", "call_agent"];
const FEWEST = 2; // a single step is a line by itself

/** Whether it waits for a person's decision. @param {Block} block */
export const waits = ({ row, asked }) => {
  const one = asked ?? row;
  return one.content_type === "interrupt" && one.status === "pending";
};

/** @param {Block} block */
const isCall = ({ row }) => row.content_type === "tool_call";

/** A notice of a stop that follows directly on a text already marked as stopped.
 * @param {DisplayMessage} row @param {Block[]} before */
const onlyRepeats = (row, before) => {
  const last = before.at(-1)?.row;
  return row.content_type === "notice" && row.status === "stopped"
    && last?.content_type === "text" && last.status === "stopped";
};

/** A to-do list, or the call that wrote one. @param {DisplayMessage} row */
const isList = (row) =>
  row.content_type === "todos" || (row.content_type === "tool_call" && row.content.name === WRITE_TODOS);

/** @param {Block} block */
const isOutdated = ({ row, result }) =>
  row.content_type === "todos" || (result !== null && !result.content.is_error);

/**
 * The rows as blocks in order; results and approvals join the nearest open call before. Call ids are
 * not unique within a conversation: a call that has a result gets no second one. Of a turn's to-do
 * lists only the newest is kept, without the calls that wrote them.
 * @param {DisplayMessage[]} rows @returns {Block[]}
 */
export const toBlocks = (rows) => {
  /** @type {Block[]} */
  const blocks = [];
  /** @type {Map<string, Block[]>} */
  const open = new Map();
  /** @type {Map<string | null, Block[]>} */
  const older = new Map();
  const outdated = new Set();
  for (const row of rows) {
    if (row.content_type === "tool_result") {
      const call = open.get(String(row.content.tool_call_id))?.shift();
      if (call) {
        call.result = row;
        continue;
      }
    }
    if (row.content_type === "interrupt") {
      const call = open.get(String(row.content.call_id))?.find(({ asked }) => asked === null);
      if (call) {
        call.asked = row;
        continue;
      }
    }
    if (onlyRepeats(row, blocks)) continue;
    /** @type {Block} */
    const block = { row, result: null, asked: null };
    blocks.push(block);
    if (isList(row)) {
      let waiting = older.get(row.turn_id) ?? [];
      if (row.content_type === "todos") {
        for (const one of waiting) if (isOutdated(one)) outdated.add(one.row.id);
        waiting = waiting.filter((one) => !outdated.has(one.row.id));
      }
      older.set(row.turn_id, [...waiting, block]);
    }
    if (row.content_type === "tool_call") {
      const id = String(row.content.call_id);
      open.set(id, [...(open.get(id) ?? []), block]);
    }
  }
  return blocks.filter(({ row }) => !outdated.has(row.id));
};

/** The blocks by speaker: a person's messages, and an agent's with those of its tools.
 * @param {DisplayMessage[]} rows @returns {Group[]} */
export const toGroups = (rows) => {
  /** @type {Group[]} */
  const groups = [];
  for (const block of toBlocks(rows)) {
    const isUser = block.row.message_type === "user";
    const agent = isUser ? null : block.row.agent;
    let last = groups.at(-1);
    if (!last || last.isUser !== isUser || (agent && last.agent !== null && last.agent !== agent)) {
      last = { isUser, agent, blocks: [] };
      groups.push(last);
    }
    last.agent ||= agent;
    last.blocks.push(block);
  }
  return groups;
};

/** The agent's last text in a group; undefined for a person's group. @param {Group} group */
export const answerOf = ({ isUser, blocks }) =>
  isUser ? undefined : blocks.findLast(({ row }) => row.content_type === "text")?.row;

/** @param {Block} block */
export const isChart = ({ result }) => Boolean(result?.metadata.table && "chart" in result.metadata.table);

/** Whether a block is a successful step: thinking, or a call without approval. @param {Block} block */
export const canFold = (block) => {
  const { row, result, asked } = block;
  if (row.content_type === "thinking") return row.status === "completed";
  if (PLAN_TOOLS.includes(String(row.content.name))) return false; // its tasks are drawn
  if (!isCall(block) || asked || !result) return false;
  return row.status === "completed" && !result.content.is_error && !isChart(block);
};

/**
 * The blocks in order, a turn's foldable blocks together at the first of them: a block, or a list.
 * @param {Block[]} blocks @returns {(Block | Block[])[]}
 */
export const fold = (blocks) => {
  /** @type {Map<string | null, Block[]>} */
  const byTurn = new Map();
  for (const block of blocks.filter(canFold)) {
    byTurn.set(block.row.turn_id, [...(byTurn.get(block.row.turn_id) ?? []), block]);
  }
  return blocks.flatMap((block) => {
    const together = canFold(block) ? byTurn.get(block.row.turn_id) ?? [] : [];
    if (together.length < FEWEST) return [block];
    return block === together[0] ? [together] : [];
  });
};

/** The seconds that a tool call took, if known. @param {Block} block */
export const secondsOf = ({ row }) =>
  typeof row.metadata.seconds === "number" ? row.metadata.seconds : null;

/** What a line of folded steps says: *Worked 14 s · 3 tools: query_source, get_budget*.
 * @param {Block[]} blocks @param {(seconds: number) => string} duration */
export const foldLabel = (blocks, duration) => {
  const calls = blocks.filter(isCall);
  if (!calls.length) return "Thinking";
  const seconds = calls.map(secondsOf).filter((one) => one !== null);
  const worked = seconds.length ? `Worked ${duration(seconds.reduce((sum, one) => sum + one, 0))}` : "Worked";
  const names = [...new Set(calls.map(({ row }) => String(row.content.name)))];
  const listed = names.slice(0, 3).join(", ") + (names.length > 3 ? ", …" : "");
  return `${worked} · ${calls.length === 1 ? "1 tool" : `${calls.length} tools`}: ${listed}`;
};
