// What the composer says, and the rules of what it sends.
import { oneLine } from "../formats.js";

export const MAX_CHARS = 2_000_000;
export const PROCEED = "Proceed"; // what the button says for a person
const TOKENS = ["session_tokens", "domain_tokens_per_month", "tokens_per_day"];
const ENDED = ["failed", "stopped"];

/** Why a text is too long to be sent; empty: it is not. @param {string} text @param {import("../formats.js").Reader} [reader] */
export const tooLong = (text, reader) => {
  const count = text.length > MAX_CHARS ? [...text].length : 0;
  if (count <= MAX_CHARS) return "";
  const [has, most] = [count, MAX_CHARS].map((one) => reader?.number(one) ?? one);
  return `${has} of at most ${most} characters. Send it in parts, or as a file.`;
};

/** A message's text with the names of its files below. @param {string} text @param {{name: string, source: string}[]} files */
export const withFiles = (text, files) => {
  const lines = files.map(({ name, source }) => `Attached file: ${name} (source ${source})`).join("\n");
  return [text, lines].filter((part) => part.trim()).join("\n\n");
};

/** The sentence in place of a composer where one may only read. */
export const readingOnly = ({ review_ends_at, owner_name, owner }) => {
  const name = oneLine(owner_name ?? owner, 100);
  return review_ends_at
    ? `You read this session as a reviewer, and its owner, ${name}, sees that.`
    : `You may read this session. To write here, ask ${name} to share it to continue.`;
};

/** A cost with two decimals, or with those of its first two digits: 12.50, 0.0031. */
const cost = (amount, reader) =>
  reader.number(amount, { decimals: amount ? Math.max(2, 1 - Math.floor(Math.log10(amount))) : 2 });

/** That a budget of today is nearly used up, or is, and when it renews. @param {Record<string, any>} budget @param {import("../formats.js").Reader} reader */
export const lowBudget = ({ kind, used, limit, left, name, principal_type, renews_at }, reader) => {
  const share = Math.floor(100 * Math.min(used / limit, 1));
  const state = left ? `${reader.number(share)} % used` : "used up";
  const whose = principal_type === "user" ? "Your budget" : `The budget of the team ${oneLine(name, 60)}`;
  const part = TOKENS.includes(kind)
    ? `${reader.number(used)} of ${reader.number(limit)} tokens`
    : `cost ${cost(used, reader)} of ${cost(limit, reader)}`;
  return `${whose} for today is ${state}: ${part}. It renews at ${reader.moment(renews_at)}.`;
};

/** The models to choose from, the default first; none where there is no choice.
 * @param {string | null} usual @param {string[] | null} further */
export const models = (usual, further) => {
  const offered = [...new Set([usual, ...(further ?? [])].filter(Boolean))];
  return offered.length < 2 ? [] : offered;
};

/** The models of a new chat of a domain: default, and those offered beside it. @param {any} domain @param {string} usual */
export const modelsOf = (domain, usual) =>
  domain ? models(domain.agents?.[0]?.model || domain.model || usual, domain.models) : [];

/** The model to send: none as long as the default was never changed.
 * @param {string[]} offered @param {string | null} before chosen last @param {string | null} chosen now */
export const modelToSend = (offered, before, chosen) => {
  if (!offered.length) return null;
  const shown = shownModel(offered, before, chosen);
  return shown !== offered[0] || before !== null ? shown : null;
};

/** @param {string[]} offered @param {string | null} before @param {string | null} chosen */
export const shownModel = (offered, before, chosen) =>
  [chosen, before].find((one) => one && offered.includes(one)) ?? offered[0];

/** What a history's last row offers: "rebuild", "new_session", "retry" (if its turn has failed), "proceed".
 * @param {any} row */
export const offerOf = (row) => {
  if (row?.metadata.response?.proposesPlan) return "proceed";
  if (!row?.turn_id || !["error", "notice"].includes(row.content_type)) return "";
  const { offer } = row.metadata;
  return ["rebuild", "new_session"].includes(offer) ? offer : "retry";
};

/** @param {{status: string}} turn */
export const isRetryable = ({ status }) => ENDED.includes(status);
