// Turns a call's arguments into editable fields, and their texts back into arguments. Pure.
export const JSON_FIELD = "arguments";
const MOST_FIELDS = 12;
const ABSENT = ""; // a choice that leaves the argument out
const NOT_GIVEN = undefined;
const KINDS = ["string", "integer", "number", "boolean"];
const WHOLE = /^\s*[+-]?\d+\s*$/;
const LARGE = /^-?\d{16,}$/; // as the API's whole numbers are kept that a browser does not hold exactly

/** @typedef {{name: string, kind: string, value: any, help: string, isRequired: boolean, isNullable: boolean, choices: string[]}} Field */

/** A whole number, exactly as it is written. @param {string} text */
const whole = (text) => {
  const number = Number(text);
  // @ts-ignore: newer than the checker's library
  return Number.isSafeInteger(number) || !JSON.rawJSON ? number : JSON.rawJSON(text.trim().replace(/^\+/, ""));
};
const known = (value) => (Array.isArray(value) ? value : [value]);
const isPlain = (value) => value !== null && typeof value === "object" && !Array.isArray(value);

/** The schema's type, whether it allows null, and the values it lists. */
const kindOf = (schema) => {
  let [kinds, listed] = [schema.type, schema.enum];
  if (Array.isArray(schema.anyOf)) {
    const simple = schema.anyOf.every((one) => isPlain(one) && Object.keys(one).every((name) => ["type", "enum"].includes(name)));
    if (!simple) return { kind: "", isNullable: false, listed: [] };
    kinds = schema.anyOf.map(({ type }) => type);
    listed = schema.anyOf.find((one) => one.enum)?.enum ?? listed;
  }
  const isNullable = known(kinds).includes("null");
  const named = known(kinds).filter((kind) => kind !== "null");
  const kind = named.length === 1 && KINDS.includes(named[0]) ? named[0] : "";
  const none = isNullable ? [null] : [];
  if (Array.isArray(listed) && listed.every((one) => ["string", "number", "boolean"].includes(typeof one))) {
    return { kind, isNullable, listed: [...listed, ...none] };
  }
  if (kind === "boolean") return { kind, isNullable, listed: [true, false, ...none] };
  return { kind: listed === undefined ? kind : "", isNullable, listed: [] };
};

const holds = (kind, value, isNullable) => {
  if (value === NOT_GIVEN || (value === null && isNullable)) return true;
  if (kind === "integer") return Number.isInteger(value) || (typeof value === "string" && LARGE.test(value));
  return typeof value === kind;
};

/** @returns {Field | null} */
const fieldOf = (name, schema, value, isRequired) => {
  if (!isPlain(schema)) return null;
  const { kind, isNullable, listed } = kindOf(schema);
  const help = typeof schema.description === "string" ? schema.description : "";
  const field = { name, kind, value, help, isRequired, isNullable, choices: [] };
  if (!listed.length) return kind && holds(kind, value, isNullable) ? field : null;
  const choices = [...new Set(listed.map((one) => JSON.stringify(one)))];
  if (value !== NOT_GIVEN && !choices.includes(JSON.stringify(value))) return null;
  return { ...field, kind: "choice", choices: value === NOT_GIVEN || !isRequired ? [ABSENT, ...choices] : choices };
};

/**
 * A field for each argument; null where the arguments are too complex for fields.
 * @param {Record<string, any>} given @param {Record<string, any>} schema @returns {Field[] | null}
 */
export const fieldsOf = (given, schema) => {
  const properties = schema.properties;
  const names = isPlain(properties) ? Object.keys(properties) : [];
  if (!names.length || names.length > MOST_FIELDS || Object.keys(given).some((name) => !names.includes(name))) return null;
  const required = schema.required ?? [];
  const fields = names.map((name) => fieldOf(name, properties[name], given[name], required.includes(name)));
  return fields.includes(null) ? null : fields;
};

/** The text that a field has at first. @param {Field} field */
export const textOf = ({ choices, value }) => {
  if (choices.length) return value === NOT_GIVEN ? ABSENT : JSON.stringify(value);
  return value === NOT_GIVEN || value === null ? "" : String(value);
};

/** A choice in words. @param {string} option */
export const choiceWords = (option) => {
  if (option === ABSENT) return "not given";
  const value = JSON.parse(option);
  if (typeof value === "boolean") return value ? "yes" : "no";
  return value === null ? "none" : String(value);
};

const unreadable = (kind, text) => {
  if (kind === "integer" && !WHOLE.test(text)) return "Enter a whole number, such as 12.";
  if (kind === "number" && !(text.trim() && Number.isFinite(Number(text)))) return "Enter a number, such as 12.5.";
  return kind === "choice" && text === ABSENT ? "Choose one; this argument is required." : "";
};
const READERS = { string: String, integer: whole, number: (text) => (WHOLE.test(text) ? whole(text) : Number(text)), choice: JSON.parse };

const valueOf = (field, text) => {
  const { value, kind, isRequired, isNullable } = field;
  if (text === textOf(field) && (value !== NOT_GIVEN || !isRequired)) {
    return kind === "integer" && typeof value === "string" ? whole(value) : value;
  }
  if (text === "" && !isRequired) return NOT_GIVEN;
  return text === "" && isNullable ? null : READERS[kind](text);
};

/**
 * The edited arguments, and why a field cannot be read, by its name.
 * @param {Field[]} fields @param {Record<string, string>} texts as far as they were written
 * @returns {{given: Record<string, any>, errors: Record<string, string>}}
 */
export const readFields = (fields, texts) => {
  const [given, errors] = [{}, {}];
  for (const field of fields) {
    const text = texts[field.name] ?? textOf(field);
    const isUnread = text === textOf(field) && (field.value !== NOT_GIVEN || !field.isRequired);
    const isLeft = text === "" && (!field.isRequired || field.isNullable);
    const fault = isUnread || isLeft ? "" : unreadable(field.kind, text);
    if (fault) errors[field.name] = fault;
    else if (valueOf(field, text) !== NOT_GIVEN) given[field.name] = valueOf(field, text);
  }
  return { given, errors };
};

/** The arguments from JSON text, or why it cannot be read. @param {string} text @returns {ReturnType<typeof readFields>} */
export const readJson = (text) => {
  try {
    const given = JSON.parse(text);
    if (isPlain(given)) return { given, errors: {} };
    return { given: {}, errors: { [JSON_FIELD]: "The arguments must be one object in braces: {…}." } };
  } catch (error) {
    return { given: {}, errors: { [JSON_FIELD]: `Not valid JSON: ${error.message}` } };
  }
};
