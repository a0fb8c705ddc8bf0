// The fields of a decision that needs input: other arguments, a reason, an answer.
import { JSON_FIELD, choiceWords, fieldsOf, readFields, readJson, textOf } from "../../acts/fields.js";
import { oneLine } from "../../formats.js";
import { html, icon } from "../../html.js";

const NO_ANSWER = "Enter the result for the agent.";

/** One field with its label, the help for it, and what is wrong with its text. */
const Labelled = ({ label, help = "", helpId = "", error = "", children }) => html`
  <label class="cq-label">${label}${children}</label>
  ${help && html`<p class="cq-small" id=${helpId}>${oneLine(help, 600)}</p>`}
  ${error && html`<p class="cq-fault" role="alert">${icon("error")} ${error}</p>`}`;

const Input = ({ field, text, write, helpId }) => {
  const about = field.help ? helpId : undefined;
  const change = ({ currentTarget }) => write(currentTarget.value);
  if (field.choices.length) {
    return html`<select class="cq-input" value=${text} aria-describedby=${about} onChange=${change}>${field.choices.map((one) => html`
      <option value=${one}>${choiceWords(one)}</option>`)}</select>`;
  }
  if (field.kind === "string") return html`<textarea class="cq-input" rows="1" dir="auto" value=${text} aria-describedby=${about} onInput=${change}></textarea>`;
  return html`<input class="cq-input" value=${text} aria-describedby=${about} onInput=${change} />`;
};

const Ways = ({ label, send, back, isActing }) => html`
  <div class="cq-line">
    <button type="button" class="cq-button cq-main" aria-disabled=${String(isActing)} onClick=${send}>${label}</button>
    <button type="button" class="cq-button cq-plain" onClick=${back}>Back</button>
  </div>`;

const useTexts = (written) => {
  const { texts, errors } = written.value;
  const write = (name) => (text) => (written.value = { ...written.value, texts: { ...written.value.texts, [name]: text } });
  const tell = (found) => (written.value = { ...written.value, errors: found });
  return { texts, errors, write, tell };
};

/** Other arguments: a field for each, or all of them as JSON. */
export const EditForm = ({ content, written, isActing, send, back }) => {
  const { texts, errors, write, tell } = useTexts(written);
  const fields = fieldsOf(content.arguments, content.args_schema ?? {});
  const json = texts[JSON_FIELD] ?? JSON.stringify(content.arguments, null, 2);
  const run = (event) => {
    const { given, errors: faults } = fields ? readFields(fields, texts) : readJson(json);
    tell(faults);
    if (!Object.keys(faults).length) send({ type: "edit", edited_action: { name: content.name, args: given } }, event);
  };
  return html`
    ${fields ? fields.map((field) => html`
      <${Labelled} key=${field.name} label=${`${oneLine(field.name)}${field.isRequired ? "" : " (optional)"}`} help=${field.help} helpId=${`${content.approval_id}-${field.name}`} error=${errors[field.name]}>
        <${Input} field=${field} text=${texts[field.name] ?? textOf(field)} write=${write(field.name)} helpId=${`${content.approval_id}-${field.name}`} />
      <//>`)
      : html`<${Labelled} label="Arguments as JSON" error=${errors[JSON_FIELD]}>
        <textarea class="cq-input cq-json" rows="8" spellcheck=${false} value=${json} onInput=${({ currentTarget }) => write(JSON_FIELD)(currentTarget.value)}></textarea>
      <//>`}
    <${Ways} label="Run with these arguments" send=${run} back=${back} isActing=${isActing} />`;
};

/** A reason, or the answer that the agent gets instead. */
export const TextForm = ({ written, isActing, send, back, kind, field, label, sendLabel, most, reader }) => {
  const { texts, errors, write, tell } = useTexts(written);
  const text = texts[field] ?? "";
  const give = (event) => {
    const message = kind === "reject" ? text.trim() : text;
    let fault = kind === "respond" && !text.trim() ? NO_ANSWER : "";
    if (message.length > most) fault = `It has ${reader.number(message.length)} characters; the maximum is ${reader.number(most)}. Shorten it.`;
    tell(fault ? { [field]: fault } : {});
    if (!fault) send({ type: kind, ...(message && { message }) }, event);
  };
  return html`
    <${Labelled} label=${label} error=${errors[field]}>
      <textarea class="cq-input" rows="2" dir="auto" value=${text} onInput=${({ currentTarget }) => write(field)(currentTarget.value)}></textarea>
    <//>
    <${Ways} label=${sendLabel} send=${give} back=${back} isActing=${isActing} />`;
};
