// How a call ended, in words for people: the outcome of one that was not run, and of an approval.
const OUTCOMES = {
  rejected: ["rejected", "Not run: this call was rejected."],
  denied: ["not allowed", "Not run: the rules of this session forbid this tool."],
  expired: ["expired", "Not run: nobody decided on this call in time."],
  changed: ["not run", "Not run: the arguments were no longer those that were decided on."],
  limited: ["over the limit", "Not run: the agent has used up its calls."],
  unavailable: ["not available", "Not run: this tool is not available now."],
  unknown: ["outcome unknown", "It is unknown whether this call has taken effect."],
};
const DONE = { approve: "approved", edit: "edited", reject: "rejected", respond: "answered" };
const SIGNS = { edit: "edit", reject: "block", respond: "reply" };
const WORDS = { hourglass_empty: "running", stop_circle: "stopped", error: "failed" };

/** The outcome of a result that its tool did not give: label, sentence, sign. */
export const outcomeOf = (result) => {
  const name = result?.metadata.outcome;
  const words = Object.hasOwn(OUTCOMES, name ?? "") ? OUTCOMES[name] : null;
  return words && { label: words[0], sentence: words[1], sign: name === "unknown" ? "help" : "block" };
};

/** Whether a decision has changed the arguments. */
export const isEdited = (asked) => Boolean(asked?.metadata.edited_arguments);

/** How an approval ended, by whom and when; empty while it waits. */
export const endWords = ({ status, metadata }, person, reader) => {
  if (status === "pending") return "";
  const at = reader.moment(metadata.decided_at);
  if (metadata.outcome === "expired") return `expired at ${at} without a decision`;
  if (metadata.outcome === "withdrawn" || !metadata.decision) return `withdrawn at ${at}: the turn was stopped`;
  return `${DONE[metadata.decision]} by ${metadata.decided_by === person ? "you" : metadata.decided_by} at ${at}`;
};

const endSign = ({ status, metadata }, callStatus) => {
  if (status === "pending") return "";
  if (metadata.outcome === "expired") return "timer_off";
  if (!metadata.decision) return "stop_circle";
  if (["reject", "respond"].includes(metadata.decision)) return SIGNS[metadata.decision];
  return callStatus === "pending" ? "schedule" : "";
};

/** The sign of a call's outcome. @param {import("../types.js").Block} block */
export const signOf = ({ row, result, asked }) => {
  const ended = asked && endSign(asked, row.status);
  if (ended) return ended;
  const outcome = outcomeOf(result);
  if (outcome) return outcome.sign;
  if (row.status === "stopped") return "stop_circle";
  if (row.status === "failed" || result?.content.is_error) return "error";
  return result || row.status === "completed" ? "check" : "hourglass_empty";
};

/** A sign in a word, where it says more than that all went well. */
export const wordOf = (sign) => WORDS[sign] ?? "";
