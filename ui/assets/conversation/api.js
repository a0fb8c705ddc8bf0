// The API, as the pages' own server passes it on: `ui/pass_through.py`.
const ROOT = "/colloquy/api/";
const MOST_MS = 30_000;
const SIGNED_OUT = 401;
const UNATTENDED = { "Colloquy-Unattended": "true" }; // an open page asks by itself

/** The service refused or failed: its own words, for a person. */
export class Problem extends Error {
  /** @param {string} title @param {string} detail @param {number} status */
  constructor(title, detail, status) {
    super(`${title}. ${detail}`);
    this.title = title;
    this.detail = detail;
    this.status = status;
  }
}

const AWAY = ["The service does not answer", "The page shows the last known state, and reconnects by itself."];

// Integers beyond what a browser holds exactly stay as they are written.
/** @param {string} _ @param {any} value @param {{source?: string}} [written] */
const exact = (_, value, { source = "" } = {}) =>
  typeof value === "number" && !Number.isSafeInteger(value) && /^-?\d+$/.test(source) ? source : value;
const parse = (text) => JSON.parse(text, exact);

/**
 * The address of something in the API, for a link or a download. Values that are null are left out.
 * @param {string} path @param {Record<string, any>} [params]
 */
export const addressOf = (path, params = {}) => {
  const given = Object.entries(params).filter(([, value]) => value !== null && value !== undefined);
  const query = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return ROOT + path + (query && `?${query}`);
};

/**
 * Read one resource.
 * @param {string} path @param {Record<string, any>} [params] @param {{isUnattended?: boolean}} [how]
 * @returns {Promise<any>} @throws {Problem}
 */
export const read = async (path, params = {}, { isUnattended = false } = {}) => {
  let answer;
  try {
    answer = await fetch(addressOf(path, params), {
      headers: isUnattended ? UNATTENDED : {},
      signal: AbortSignal.timeout(MOST_MS),
    });
  } catch {
    throw new Problem(AWAY[0], AWAY[1], 0);
  }
  if (answer.status === SIGNED_OUT) window.colloquySignIn?.check();
  const body = await answer.text().then(parse).catch(() => null);
  if (answer.ok && body !== null) return body;
  throw new Problem(
    body?.title ?? "The service could not answer",
    body?.detail ?? `HTTP status ${answer.status}.`,
    answer.status,
  );
};
