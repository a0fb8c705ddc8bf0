// The API, as the pages' own server passes it on: `ui/pass_through.py`.
const ROOT = "/colloquy/api/";
const MOST_MS = 30_000;
const UNATTENDED_MS = 15_000; // the pages' server answers such a request in less, even if the API does not
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

  /** Nobody answered, or none who could. */
  get isAway() {
    return this.status === 0 || this.status >= 500;
  }
}

const AWAY = ["The service does not answer", "The page shows the last known state, and reconnects by itself."];

// Integers beyond what a browser holds exactly stay as they are written.
/** @param {string} _ @param {any} value @param {{source?: string}} [written] */
const exact = (_, value, { source = "" } = {}) =>
  typeof value === "number" && !Number.isSafeInteger(value) && /^-?\d+$/.test(source) ? source : value;
/** What the API has written as JSON. @param {string} text @returns {any} */
export const parse = (text) => JSON.parse(text, exact);

/**
 * The address of something in the API, for a link or a download. Values that are null are left out.
 * @param {string} path @param {Record<string, any>} [params]
 */
export const addressOf = (path, params = {}) => {
  const given = Object.entries(params).filter(([, value]) => value !== null && value !== undefined);
  const query = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return ROOT + path + (query && `?${query}`);
};

// How far the server's clock is ahead of the browser's, which may be wrong by hours.
let ahead = 0;
const COARSE_MS = 2000; // the server says whole seconds, and an answer takes its time

/** Seconds since 1970, by the server's clock. */
export const now = () => (Date.now() + ahead) / 1000;

const setClock = (date) => {
  const differs = Date.parse(date ?? "") - Date.now();
  if (Math.abs(differs) > COARSE_MS) ahead = differs;
  else if (!Number.isNaN(differs)) ahead = 0;
};

/** Whose page this is, as the server named them in it; "" where nobody signs in. */
export const pageOf = () => {
  const meta = globalThis.document?.querySelector?.('meta[name="colloquy-person"]');
  return /** @type {HTMLMetaElement | null} */ (meta)?.content ?? "";
};

/** @param {string} address @param {RequestInit} how @returns {Promise<any>} @throws {Problem} */
const call = async (address, how) => {
  let answer, written;
  try {
    const headers = { ...how.headers, "Colloquy-Person": pageOf() };
    answer = await fetch(address, { signal: AbortSignal.timeout(MOST_MS), ...how, headers });
    written = await answer.text();
    setClock(answer.headers?.get("date"));
  } catch {
    throw new Problem(AWAY[0], AWAY[1], 0);
  }
  if (answer.status === SIGNED_OUT) window.colloquySignIn?.check();
  let body = null;
  try {
    body = written ? parse(written) : null;
  } catch {
    // no JSON: a proxy's page
  }
  if (answer.ok && (body !== null || !written)) return body;
  throw new Problem(
    body?.title ?? "The service could not answer",
    body?.detail ?? `HTTP status ${answer.status}.`,
    answer.status,
  );
};

/**
 * Read one resource.
 * @param {string} path @param {Record<string, any>} [params] @param {{isUnattended?: boolean}} [how]
 * @returns {Promise<any>} @throws {Problem}
 */
export const read = (path, params = {}, { isUnattended = false } = {}) =>
  call(addressOf(path, params), isUnattended ? { headers: UNATTENDED, signal: AbortSignal.timeout(UNATTENDED_MS) } : {});

/**
 * Change something. Sent again with the same `key`, it is done once.
 * @param {"POST" | "PUT" | "PATCH" | "DELETE"} method @param {string} path
 * @param {object} [body] as JSON @param {{key?: string, prefer?: string, signal?: AbortSignal}} [how]
 * @returns {Promise<any>} the API's answer; null for an empty one @throws {Problem}
 */
export const change = (method, path, body = undefined, { key = "", prefer = "", signal = undefined } = {}) => {
  /** @type {Record<string, string>} */
  const headers = {};
  if (body !== undefined) headers["Content-Type"] = "application/json";
  if (key) headers["Idempotency-Key"] = key;
  if (prefer) headers.Prefer = prefer;
  const written = body === undefined ? undefined : JSON.stringify(body);
  return call(ROOT + path, { method, headers, body: written, signal: signal ?? AbortSignal.timeout(MOST_MS) });
};

/** A key under which something is done once, however often it is sent. */
export const newKey = () =>
  [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
