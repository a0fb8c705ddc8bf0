// Where a person writes: the text with its files, the model that answers, Stop, and what keeps a message from
// being sent.
import { Refusal, useAct } from "../../acting.js";
import { composerOf } from "../../composer/composer.js";
import { pasted } from "../../composer/handed.js";
import { lowBudget, models, modelsOf, readingOnly, shownModel } from "../../composer/words.js";
import { html, icon, useEffect, useLayoutEffect, useMemo, useRef, useState } from "../../html.js";
import { isFree, named } from "../../keys.js";
import { useDrop } from "../dropping.js";
import { Away } from "../notices.js";
import { useAgents, useDomains } from "./asked.js";
import { Choice } from "./choice.js";
import { Attached } from "./files.js";
import { useMentions } from "./mentions.js";

const INPUT_METHOD = 229; // Safari sends the key after the composition has ended: all browsers give it this code
const SAME_MS = 500; // within which a page that takes another's place goes on with what was being written
const LONG = 100_000; // characters, from which on finding the direction of each paragraph takes seconds
const GROWS = globalThis.CSS?.supports("field-sizing", "content");

/** Escape stops the turn, also before it is known. */
const useEscape = (stop) => useEffect(() => {
  const press = (event) => {
    if (event.repeat || event.isComposing || named(event) !== "Escape") return;
    if (isFree("Escape", event.target)) stop();
  };
  document.addEventListener("keydown", press, true); // before what is open has closed
  return () => document.removeEventListener("keydown", press, true);
});

const Stop = ({ turn, composer, turns }) => {
  const button = useRef(null);
  const { act, isActing, problem } = useAct(() => composer.stop(turns));
  useHeir(button, composer);
  const isStopping = turn.stop_requested || isActing;
  return html`<${Refusal} problem=${problem} />
    <button type="button" class="cq-button" ref=${button} aria-disabled=${String(isStopping)}
      title="Stop this turn; everything said so far is kept" onClick=${() => isStopping || act()}>
      ${icon("stop_circle")} ${turn.stop_requested ? "Stopping" : "Stop"}</button>`;
};

/** When a button that has the focus goes away, the composer gets it. */
export const useHeir = (button, composer) => useLayoutEffect(() => () => {
  if (document.activeElement === button.current) composer.focus();
}, []);

const Model = ({ composer, conversation, server, domains }) => {
  const session = conversation.session.value;
  const { domain } = composer.choices.value;
  const usual = server?.model ?? "";
  const offered = conversation.id === null
    ? modelsOf(domains.find(({ id }) => id === domain) ?? domains[0], usual)
    : models(session?.default_model || usual, session?.models);
  const before = session?.model ?? null;
  useLayoutEffect(() => {
    composer.model.value = null; // another one was chosen elsewhere since
  }, [before]);
  composer.offered = { models: offered, before };
  return offered.length > 0 && html`
    <${Choice} id="cq-models" label="Model" tip="The model that answers the next message and those after it"
      value=${shownModel(offered, before, composer.model.value)} options=${offered.map((one) => ({ value: one, label: one }))}
      choose=${(one) => { composer.model.value = one; }} />`;
};

const grow = (area) => {
  if (GROWS) return;
  area.style.height = "auto";
  area.style.height = `${area.scrollHeight}px`;
};

/** The text with its buttons. */
const Box = ({ composer, agents, placeholder, add }) => {
  const area = useRef(/** @type {HTMLTextAreaElement | null} */ (null));
  const chooser = useRef(null);
  const names = useMentions(area, agents, (text) => composer.write(text));
  const text = composer.text.value;
  useLayoutEffect(() => {
    composer.area = area.current;
    if (composer.isToFocus || performance.now() - composer.leftAt < SAME_MS) composer.focus();
    return () => {
      if (document.activeElement === area.current) composer.leftAt = performance.now();
      composer.area = null;
    };
  }, [composer]);
  useLayoutEffect(() => grow(area.current), [text]);
  const press = (event) => {
    if (event.isComposing || event.keyCode === INPUT_METHOD) return;
    const isOwn = names.press(event);
    if (!isOwn && (event.key !== "Enter" || event.shiftKey || event.altKey)) return;
    event.preventDefault();
    event.stopPropagation();
    if (!isOwn) composer.submit();
  };
  const paste = (event) => {
    const files = pasted(event.clipboardData);
    if (!files.length) return;
    event.preventDefault();
    add(files);
  };
  const choose = ({ target }) => {
    add([...target.files]);
    target.value = "";
  };
  return html`
    <div class="cq-box">
      ${names.list}
      <textarea ref=${area} rows="1" aria-label=${placeholder} placeholder=${placeholder} value=${text} ...${names.told}
        class=${text.length > LONG ? "cq-long" : undefined}
        onInput=${({ target }) => { composer.write(target.value); names.look(); }} onKeyDown=${press} onPaste=${paste} onBlur=${names.close}></textarea>
      <div class="cq-line">
        <button type="button" class="cq-round" aria-label="Upload files" title="Upload files" onClick=${() => chooser.current.click()}>${icon("attach_file")}</button>
        <input type="file" multiple hidden ref=${chooser} onChange=${choose} />
        <span class="cq-wide cq-small" role="status">${composer.waits.value ? "Sends when the file has arrived" : ""}</span>
        <button type="button" class="cq-round cq-send" aria-label="Send message" title="Send message"
          aria-disabled=${String(!text.trim() && !composer.files.items.value.length)} onClick=${() => composer.submit()}>${icon("arrow_upward")}</button>
      </div>
    </div>`;
};

const Writing = ({ app, conversation }) => {
  const { id } = conversation;
  // What is written while another chat is being opened is for that one.
  const target = app.opening.value ? JSON.parse(app.opening.value).session : id;
  const isHere = target === id;
  const composer = useMemo(() => composerOf(target), [target, conversation]);
  const server = app.server.value;
  const turns = conversation.turns.value;
  const domains = useDomains(id === null);
  const [isOver, tellOver] = useState(false);
  const agents = useAgents(conversation, composer, domains);
  const { act: stop, problem: unstopped } = useAct(() => composer.stop(conversation.turns.value));
  const add = (files) => composer.files.add(files, server?.max_file_mb ?? 200);
  useLayoutEffect(() => (isHere ? composer.enter(app, conversation) : undefined), [composer, conversation, isHere]);
  const away = conversation.problem.value ?? app.problem.value;
  const wasAway = useRef(false);
  useEffect(() => { // the service is back: that it was away is no reason any more
    if (wasAway.current && !away) composer.problem.value = null;
    wasAway.current = away !== null;
  }, [away]);
  useEscape(stop);
  useDrop(add, tellOver);
  const placeholder = turns.length
    ? "Keep writing: your message will be answered after this turn"
    : "Ask anything about your data";
  return html`
    <section class=${`cq-composer ${isOver ? "cq-takes" : ""}`} aria-label="Your message">
      <${Away} problem=${away} />
      <${Refusal} problem=${composer.problem.value ?? unstopped} />
      <div class="cq-line cq-beside">
        ${isHere && html`<${Model} composer=${composer} conversation=${conversation} server=${server} domains=${domains} />`}
        ${isHere && turns.length > 0 && html`<${Stop} key=${turns[0].id} turn=${turns[0]} composer=${composer} turns=${turns} />`}
      </div>
      <${Attached} files=${composer.files} reader=${conversation.reader} />
      <${Box} key=${composer} composer=${composer} agents=${agents} placeholder=${placeholder} add=${add} />
      ${(server?.low_budgets ?? []).map((one) => html`
        <p class="cq-small" key=${one.principal_id + one.kind}>${icon("data_usage")} ${lowBudget(one, conversation.reader)}</p>`)}
    </section>`;
};

/** The composer of a chat; a sentence where one may only read; nothing where only a plan gives work.
 * @param {{app: any, conversation: any}} given */
export const Composer = ({ app, conversation }) => {
  const session = conversation.session.value;
  if (conversation.may.value.ask) return html`<${Writing} app=${app} conversation=${conversation} />`;
  if (session?.rights !== "read" || conversation.readsOnly) return null;
  return html`
    <section class="cq-composer">
      <p class="cq-small">${icon("visibility")} ${readingOnly(session)}</p>
      <div class="cq-box"><textarea rows="1" disabled placeholder="You may only read here" aria-label="You may only read here"></textarea></div>
    </section>`;
};
