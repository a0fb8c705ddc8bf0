// What the active turn of a session does, in words: made from its events and its rows. Pure.
/** @import { Block, DisplayMessage, Progress, Turn } from "./types.js" */
import { toBlocks, waits } from "./blocks.js";

const AWAY = "The service does not answer. Nothing is lost; reconnecting…";
const ON_TASKS = "Waiting for its tasks"; // also when these wait for a person
const ASKED_AGAIN = "The answer broke off and is being requested again.";
const PLAN_TOOLS = ["run_plan", "call_agent"];
const STAGES = { routing: "Finding the agent", completing: "Completing" };
const RESETS = {
  "worker lost": "", // a row of the history says so
  "It was the model's thinking": "", // it appears there
  "handed over": "Handed over: another worker continues from the last saved step.",
};
// A worker renews its lease four times before it ends; half of it without renewal is no accident.
const SILENT_SHARE = 0.5;

const isRunning = ({ row, result }) =>
  row.content_type === "tool_call" && !result && ["pending", "executing"].includes(row.status);

/** 0 s, 12 s, 3 min 5 s, 2 h 10 min: for what is counting. @param {number} seconds */
const counted = (seconds) => {
  if (seconds < 59.5) return `${seconds.toFixed(0)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${Math.floor(seconds) % 60} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
};

/** What a queued turn waits for. @param {number | null} before how many turns are ahead of it */
export const queueWords = (before) =>
  before ? `Waiting: ${before} turn${before === 1 ? "" : "s"} before it` : "Waiting for a worker";

/** For whom a turn waits. @param {number} calls to decide @param {boolean} [isReader] */
export const waitingWords = (calls, isReader = false) =>
  `Waiting for ${isReader ? "its owner" : "you"}: ${calls} call${calls === 1 ? "" : "s"} to decide`;

/** How a turn has ended, for a person who looks elsewhere; "" if one has stopped it. @param {Turn} turn */
export const endWords = ({ status, error }) => {
  if (status === "stopped") return "";
  return error ? `It failed: ${error.title}.` : "The answer is ready.";
};

/** @param {Turn} turn */
const silenceWords = ({ heartbeat_seconds: heartbeat, lease_seconds: left }) => {
  if (heartbeat == null || left == null || heartbeat < SILENT_SHARE * (heartbeat + left)) return "";
  return left < 0 ? "worker lost, another one is taking over" : `no heartbeat for ${heartbeat.toFixed(0)} s`;
};

/** @param {Turn} turn */
const lossWords = ({ losses }) =>
  losses ? `resumed${losses === 1 ? "" : ` ${losses} times`} after a lost worker` : "";

/** The number of the running step: a model message, or a batch of tool results.
 * @param {DisplayMessage[]} rows of the turn */
const stepOf = (rows) => {
  let step = 1, before = "";
  for (const row of rows) {
    const isAnswer = row.message_type === "assistant" && row.sequence === 0;
    const isBatch = row.message_type === "tool" && before !== "tool";
    if (isAnswer || isBatch) step += 1;
    before = row.message_type;
  }
  return step;
};

/** The active turn, as its events go on. Moments are seconds since 1970. */
export class LiveTurn {
  /** @param {Turn} turn @param {number} now */
  constructor(turn, now) {
    this.turn = turn;
    this.notice = "";
    this.stage = "";
    this.wait = /** @type {{until: number, reason: string} | null} */ (null);
    this.toolsSay = /** @type {Record<string, string>} */ ({});
    this.take(turn, now);
  }

  /** What is stored of it. @param {Turn} turn @param {number} now */
  take(turn, now) {
    this.turn = turn;
    if (turn.model_wait) this.wait = { until: now + turn.model_wait.seconds, reason: turn.model_wait.reason };
  }

  /** Something was said or done: it waits no more. */
  moved() {
    this.wait = null;
    this.stage = "";
  }

  /** @param {Progress} data @param {number} now */
  progress({ state, seconds, reason, call_id, text }, now) {
    if (state === "waiting_for_model") this.wait = { until: now + (seconds ?? 0), reason: reason ?? "" };
    else if (state === "running_tool") this.toolsSay[call_id ?? ""] = text ?? "";
    else if (state in STAGES) this.stage = STAGES[state];
    else if (state === "stopping") this.turn = { ...this.turn, stop_requested: true };
  }

  /** A text was void. @param {string} given the reason */
  reset(given) {
    const reason = given.replace(/\.$/, "");
    this.notice = RESETS[reason] ?? (reason ? `${ASKED_AGAIN} ${reason}.` : ASKED_AGAIN);
  }

  /** @param {Block[]} blocks @param {boolean} isWriting @param {number} now */
  #activity(blocks, isWriting, now) {
    const { turn } = this;
    if (turn.status === "queued") return queueWords(turn.queue_position);
    if (turn.status === "waiting") return turn.waits_for === "tasks" ? ON_TASKS : "Continuing";
    if (turn.stop_requested) return "Stopping";
    if (this.wait) {
      if (this.wait.until <= now) return "Asking the model again";
      return `Waiting for the model's provider: ${(this.wait.reason || "it is busy").replace(/\.$/, "")}`;
    }
    if (this.stage) return this.stage;
    const running = blocks.findLast(isRunning)?.row.content;
    if (running) {
      if (PLAN_TOOLS.includes(running.name)) return ON_TASKS;
      const said = this.toolsSay[running.call_id];
      return `Running ${running.name ?? "a tool"}${said ? `: ${said}` : ""}`;
    }
    if (turn.route?.reason === "pending") return STAGES.routing;
    return isWriting ? "Writing" : "Thinking";
  }

  /**
   * What it does, the details that change all the time, and the notice; "" where the page says it elsewhere.
   * @param {DisplayMessage[]} rows its rows @param {boolean} isWriting an answer streams
   * @param {boolean} isAway @param {number} now
   */
  words(rows, isWriting, isAway, now) {
    const { turn, notice } = this;
    const blocks = toBlocks(rows.filter(({ message_type }) => message_type !== "user"));
    if (turn.status === "waiting" && blocks.some(waits)) return { activity: "", details: "", notice: "" };
    if (isAway) return { activity: AWAY, details: "", notice: "" };
    const activity = `${this.#activity(blocks, isWriting, now)}…`;
    if (turn.status === "queued") return { activity, details: "", notice };
    const since = Date.parse(turn.started_at ?? turn.created_at) / 1000;
    const left = this.wait && !turn.stop_requested ? this.wait.until - now : 0;
    const details = [
      left > 0 ? `next try in ${counted(left)}` : "",
      counted(Math.max(now - since, 0)), `step ${stepOf(rows)}`, silenceWords(turn), lossWords(turn),
    ];
    return { activity, details: details.filter(Boolean).map((one) => ` · ${one}`).join(""), notice };
  }
}
