// Calls that wait, or have waited, for a person's decision. Pure.
export const MOST_CHARS = 20_000; // of a reason or an answer
const [MINUTE, HOUR, DAY] = [60, 3600, 86_400];

const secondsTo = (moment, now) => (Date.parse(moment) - now) / 1000;

/** The time left to decide; empty where there is no limit. @param {string | null} expires @param {number} now */
export const expiryWords = (expires, now) => {
  if (!expires) return "";
  const minutes = Math.floor(secondsTo(expires, now) / MINUTE);
  if (minutes < 1) return "expires within a minute";
  if (minutes < 60) return `expires in ${minutes} min`;
  const hours = Math.floor(minutes / 60);
  return `expires in ${hours < 48 ? `${hours} h` : `${Math.floor(hours / 24)} days`}`;
};

/** The seconds until `expiryWords` says something else; at least one. @param {string} expires @param {number} now */
export const wordsHold = (expires, now) => {
  const left = secondsTo(expires, now);
  const unit = left < HOUR ? MINUTE : left < 2 * DAY ? HOUR : DAY;
  return (((left % unit) + unit) % unit) + 1;
};

/** An approval of the inbox as the row that asks about it in its session. @param {Record<string, any>} approval */
export const askedOf = (approval) => {
  const { id, status, decision, decided_by, decided_at, created_at } = approval;
  const isPending = status === "pending";
  return {
    content: { ...approval, approval_id: id },
    status: isPending ? "pending" : "completed",
    metadata: isPending ? {} : {
      outcome: status,
      decision: decision?.type ?? null,
      decided_by,
      decided_at: decided_at ?? created_at,
      message: decision?.message ?? null,
      edited_arguments: decision?.edited_action?.args ?? null,
    },
  };
};
