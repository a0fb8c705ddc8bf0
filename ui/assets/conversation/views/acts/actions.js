// What a person can do with a message: edit it, ask again, copy it, say what they think of it, and see
// its other versions.
import { aboutOf } from "../../about.js";
import { figuresWords } from "../../acts/words.js";
import { Refusal, useAct } from "../../acting.js";
import { change, newKey } from "../../api.js";
import { oneLine } from "../../formats.js";
import { html, icon, signal, useLayoutEffect, useRef } from "../../html.js";
import { LATEST } from "../../windows.js";
import { Copy, Download } from "../buttons.js";
import { Feedback } from "./feedback.js";
import { Tip } from "./tip.js";
/** @import { DisplayMessage } from "../../types.js" */
/** @import { Conversation } from "../../store.js" */

export const BUSY = "Not available while a turn runs: wait until it ends, or stop it";
const MOST_COPIED = 300_000; // characters
/** The message that is being edited, with its text: kept while another session is looked at. */
export const edited = signal(/** @type {{id: string, text: string} | null} */ (null));

/** What had the focus when it went away: its heir takes it, once it is drawn. */
const left = { edited: "", versions: { of: 0, place: 0 } };

/** Leave a message as it is. @param {string} id */
export const leaveEdit = (id) => {
  left.edited = id;
  edited.value = null;
};

const keys = new Map(); // of what was sent and not accepted yet: sent again, it is the same

/** Change a turn's message or its version, once, and show the end of what follows.
 * @param {Conversation} conversation @param {string} path @param {object} [body] */
export const changeTurn = async (conversation, path, body) => {
  const what = `${path} ${JSON.stringify(body)}`;
  const key = keys.get(what) ?? newKey();
  keys.set(what, key);
  await change("POST", path, body, path.endsWith("/branch") ? {} : { key });
  keys.delete(what);
  await (conversation.isAtEnd ? conversation.refresh() : conversation.move(LATEST).then(() => conversation.refresh()));
};

/** A small button below a message; it says why it cannot be pressed while a turn runs. */
const Act = ({ sign, label, act, isBusy, isAlone = false, isOff = false }) => html`
  <${Tip} text=${isBusy ? BUSY : null}>
    <button type="button" class="colloquy-text-button" disabled=${isBusy || isOff} aria-label=${label} title=${isAlone ? label : undefined} onClick=${() => act()}>
      ${icon(sign)}${!isAlone && html` ${label}`}
    </button>
  <//>`;

const Versions = ({ row, versions, conversation }) => {
  const { isBusy, id } = conversation;
  const root = useRef(null);
  const of = versions[0].position;
  const to = useAct((turn_id) => changeTurn(conversation, `sessions/${id}/branch`, { turn_id }));
  const place = versions.findIndex(({ position }) => position === row.position);
  const go = async (pressed, version) => {
    left.versions = { of, place: pressed };
    if (!(await to.act(version.turn_id))) left.versions.of = 0;
  };
  useLayoutEffect(() => {
    if (left.versions.of !== of) return;
    const both = root.current.querySelectorAll("button");
    both[both[left.versions.place].disabled ? 1 - left.versions.place : left.versions.place].focus();
    left.versions.of = 0;
  }, []);
  const way = (pressed, word, sign, version) => html`
    <${Act} sign=${sign} label=${`${word} version`} isAlone isBusy=${isBusy.value} isOff=${!version || !conversation.may.value.ask}
      act=${() => go(pressed, version)} />`;
  return html`
    <span class="cq-versions" ref=${root}>
      ${way(0, "Earlier", "chevron_left", versions[place - 1])}
      <span class="cq-small">${place + 1}/${versions.length}</span>
      ${way(1, "Later", "chevron_right", versions[place + 1])}
    </span>
    <${Refusal} problem=${to.problem} />`;
};

/** The line below a person's message. @param {{row: DisplayMessage, conversation: Conversation}} given */
export const MessageActions = ({ row, conversation }) => {
  const versions = aboutOf(conversation).versions.value.get(row.position);
  const may = conversation.may.value.ask;
  const line = useRef(null);
  useLayoutEffect(() => {
    if (left.edited !== row.id) return;
    left.edited = "";
    line.current?.querySelector("[aria-label=Edit]")?.focus();
  }, []);
  if (!row.turn_id || !(may || versions)) return null;
  const edit = () => (edited.value = { id: row.id, text: String(row.content.text ?? "") });
  return html`
    <div class="cq-line cq-actions" ref=${line}>
      ${versions && html`<${Versions} row=${row} versions=${versions} conversation=${conversation} />`}
      ${may && html`<${Act} sign="edit" label="Edit" isBusy=${conversation.isBusy.value} act=${edit} />`}
    </div>`;
};

/** The line below an agent's last text in a turn. @param {{answer: DisplayMessage, conversation: Conversation}} given */
export const AnswerActions = ({ answer, conversation }) => {
  const { session, isBusy, reader } = conversation;
  const text = String(answer.content.text ?? "");
  const figures = aboutOf(conversation).figures.value.get(answer.turn_id);
  const again = useAct(() => changeTurn(conversation, `turns/${answer.turn_id}/retry`));
  // A stopped answer is continued instead, with Retry below it.
  const isOffered = answer.turn_id && answer.status !== "stopped" && conversation.may.value.ask;
  return html`
    <div class="cq-line cq-actions">
      ${text.length > MOST_COPIED
        ? html`<${Download} href=${URL.createObjectURL(new Blob([text]))} name="text.md" label="Download" />`
        : html`<${Copy} text=${text} label="Copy this answer as Markdown" />`}
      <span class="cq-small">${figures ? figuresWords(figures, reader) : oneLine(answer.metadata.model_name, 60)}</span>
      ${figures && !session.value.review_ends_at && html`<${Feedback} figures=${figures} conversation=${conversation} />`}
      ${isOffered && html`<${Act} sign="refresh" label="Another answer" isBusy=${isBusy.value || again.isActing} act=${again.act} />`}
    </div>
    <${Refusal} problem=${again.problem} />`;
};
