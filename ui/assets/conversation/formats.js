// Numbers, times and texts as the person reads them: by the browser's locale and zone.
/** @import { Column, NumberFormat } from "./types.js" */

const NOTHING = "\u2013"; // an en dash
const MAX_NAME_CHARS = 80;
const MOST_DECIMALS = 10;
const INVISIBLE = /[\x00-\x1f\x7f\u200e\u200f\u202a-\u202e\u2066-\u2069]+/g;

// The signs of a known locale; digits are always those of the stored figures, as in exports.
const known = (locale) => {
  try {
    return new Intl.Locale(locale, { numberingSystem: "latn" }).toString();
  } catch {
    return "en";
  }
};

/** How one person reads: made once, from the locale and zone of their browser. */
export class Reader {
  /** @param {string} [locale] @param {string} [zone] */
  constructor(locale = navigator.language, zone = undefined) {
    this.language = locale; // as the API is told it
    this.locale = known(locale);
    this.zone = zone;
    this.formats = new Map();
  }

  /** @param {number} decimals @param {boolean} isGrouped */
  formatOf(decimals, isGrouped) {
    const key = `${decimals} ${isGrouped}`;
    const made = this.formats.get(key) ?? new Intl.NumberFormat(this.locale, {
      minimumFractionDigits: decimals,
      maximumFractionDigits: decimals,
      useGrouping: isGrouped ? "always" : false,
      roundingMode: "halfEven", // as exports round
    });
    this.formats.set(key, made);
    return made;
  }

  /** A number with the reader's signs; without `decimals`, with all that it has.
   * @param {number} value @param {{decimals?: number, isGrouped?: boolean}} [how] */
  number(value, { decimals = undefined, isGrouped = true } = {}) {
    if (decimals === undefined) {
      const written = String(value);
      if (written.includes("e")) return written;
      decimals = written.split(".")[1]?.length ?? 0;
    }
    return this.formatOf(decimals, isGrouped).format(value);
  }

  /** 1 row, 2,000 rows. @param {number} count @param {string} noun */
  counted(count, noun) {
    return `${this.number(count)} ${noun}${count === 1 ? "" : "s"}`;
  }

  /** 0.4 s, 12 s, 3 min 5 s, 2 h 10 min. @param {number} seconds */
  duration(seconds) {
    if (seconds < 10) return `${this.number(Math.max(seconds, 0), { decimals: 1 })} s`;
    if (seconds < 60) return `${seconds.toFixed(0)} s`;
    const minutes = Math.floor(seconds / 60);
    if (minutes < 60) return `${minutes} min ${Math.floor(seconds) % 60} s`;
    return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
  }

  /** A stored day in the reader's format; any other text unchanged. @param {string} text */
  day(text) {
    const [, year, month, day] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text) ?? [];
    if (!year) return text;
    const format = new Intl.DateTimeFormat(this.locale, {
      timeZone: "UTC", year: "numeric", month: "2-digit", day: "2-digit",
    });
    return format.format(Date.UTC(Number(year), Number(month) - 1, Number(day)));
  }

  /** A moment in the reader's zone: 14:05, Yesterday 14:05, 03.11.2024 14:05.
   * @param {string} text @param {Date} [now] */
  moment(text, now = new Date()) {
    const when = new Date(text);
    const dayOf = (date) => date.toLocaleDateString("sv", { timeZone: this.zone });
    const clock = when.toLocaleTimeString("en-GB", { timeZone: this.zone, hour: "2-digit", minute: "2-digit" });
    const days = Math.round((Date.parse(dayOf(now)) - Date.parse(dayOf(when))) / 86_400_000);
    if (days <= 0) return clock;
    return days === 1 ? `Yesterday ${clock}` : `${this.day(dayOf(when))} ${clock}`;
  }

  /** A moment with its day, in the reader's zone and format: 28.11.2026, 14:05. @param {string} text */
  dayAndTime(text) {
    const when = new Date(text);
    const clock = when.toLocaleTimeString("en-GB", { timeZone: this.zone, hour: "2-digit", minute: "2-digit" });
    return `${this.day(when.toLocaleDateString("sv", { timeZone: this.zone }))}, ${clock}`;
  }

  /** A number as its column is written. @param {number} value @param {NumberFormat} format */
  written(value, { decimals, currency, is_before, is_percent, unit, is_grouped }) {
    const size = is_percent ? Number((Math.abs(value) * 100).toFixed(MOST_DECIMALS)) : Math.abs(value);
    const isGrouped = is_grouped || (decimals === null && !Number.isInteger(size));
    let text = this.number(size, { decimals: decimals ?? undefined, isGrouped });
    if (is_percent || unit === "%") text += `${this.percentGap}%`;
    else if (unit) text += `\u00a0${unit}`;
    else if (currency && is_before) text = `${currency}${/[\p{L}.]$/u.test(currency) ? "\u00a0" : ""}${text}`;
    else if (currency) text += `\u00a0${currency}`;
    return value < 0 && /[1-9]/.test(text) ? `-${text}` : text;
  }

  get percentGap() {
    const parts = new Intl.NumberFormat(this.locale, { style: "percent" }).formatToParts(1);
    return parts.some(({ type, value }) => type === "literal" && value.includes("\u00a0")) ? "\u00a0" : "";
  }

  /** A cell as people read it, by what the API says of its column: a dash for no value. Whole
   * numbers without a format are not grouped: some are years.
   * @param {any} value @param {Column} [column] */
  cell(value, { kind = "", number = null } = {}) {
    if (value === null || value === undefined) return NOTHING;
    if (typeof value === "number") {
      if (number) return this.written(value, number);
      return this.number(value, { isGrouped: !Number.isInteger(value) });
    }
    if (typeof value === "object") return JSON.stringify(value);
    if (kind === "moment") return this.when(String(value));
    return kind === "date" ? this.day(String(value)) : String(value);
  }

  /** A stored time: its day in the reader's format, its clock unchanged. @param {string} text */
  when(text) {
    const [, day, clock] = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:.*))?$/.exec(text) ?? [];
    return day ? `${this.day(day)} ${clock ?? ""}`.trimEnd() : text;
  }

  /** 1.4 MB, 320 bytes. @param {number} bytes */
  size(bytes) {
    if (bytes < 1_000_000) return `${this.number(bytes)} bytes`;
    return `${this.number(bytes / 1_000_000, { decimals: 1 })} MB`;
  }
}

/** A text on one line, without characters that change its direction, cut after so many characters.
 * @param {unknown} text @param {number} [most] */
export const oneLine = (text, most = 300) => {
  const line = String(text ?? "").replace(INVISIBLE, " ").trim();
  return line.length > most ? `${line.slice(0, most - 1)}…` : line;
};

/** A table as text that can be pasted into spreadsheets of the reader's locale.
 * @param {import("./types.js").Table} table @param {Reader} reader */
export const asTabbed = ({ columns, rows }, reader) => {
  const flat = (value) => {
    if (value === null || value === undefined) return "";
    if (typeof value === "number" && !Number.isInteger(value)) return reader.number(value, { isGrouped: false });
    return String(typeof value === "object" ? JSON.stringify(value) : value).split(/\s+/).filter(Boolean).join(" ");
  };
  return [columns.map(({ name }) => name), ...rows.map((row) => row.map(flat))]
    .map((line) => line.join("\t")).join("\n");
};

/** A safe name for a download, from a model's title: never a path or a disguised extension.
 * @param {unknown} title @param {string} ending */
export const fileName = (title, ending) => {
  const name = String(title ?? "").replace(/[^\p{L}\p{N}_ .()+,-]+/gu, "-").slice(0, MAX_NAME_CHARS);
  return `${name.replace(/^[ .-]+|[ .-]+$/g, "") || "table"}.${ending}`;
};
