// The dialog in which whose a session is shares it: with people, teams, everyone, or by links.
import { Refusal, useAct } from "../acting.js";
import { change, read } from "../api.js";
import { oneLine } from "../formats.js";
import { html, icon, useEffect, useRef, useState } from "../html.js";
import { CodeBlock } from "./buttons.js";
import { Dialog } from "./dialog.js";
/** @import { Conversation } from "../store.js" */

const MAY = { read: "may read", continue: "may continue" };
const SIGNS = { user: "person", team: "group", everyone: "public" };
const EVERYONE = { type: "everyone", id: "", name: "Everyone here" };
const LINK_DAYS = 30;
const MOST_DAYS = 365;
const WAIT_MS = 300;

/** The button that opens the dialog. @param {{conversation: Conversation, server: any}} given */
export const Share = ({ conversation, server }) => {
  const [isOpen, opens] = useState(false);
  const hasAccounts = Boolean(server?.has_accounts);
  return html`
    <button type="button" class="cq-plain" aria-label="Share" title=${hasAccounts ? "Share this session" : "Share a read-only link"}
      onClick=${() => opens(true)}>${icon("share")}</button>
    ${isOpen && html`
      <${Dialog} sign="share" title=${hasAccounts ? "Share this session" : "Share a read-only link"} close=${() => opens(false)}>
        ${hasAccounts && html`<${Belongs} conversation=${conversation} /><${Grants} conversation=${conversation} /><hr />`}
        <${Links} conversation=${conversation} />
      <//>`}`;
};

/** The team that the session belongs to, for who may give it away. */
const Belongs = ({ conversation }) => {
  const session = conversation.session.value;
  const isMine = session.owner === conversation.person && session.parent_id === null;
  const [teams, tell] = useState([]);
  const reading = useAct(async () => tell((await read("account")).teams));
  const giving = useAct(async (team) => {
    conversation.session.value = await change("PATCH", conversation.path, { team: team || null });
  });
  useEffect(() => void (isMine && reading.act()), []);
  if (!isMine || !(teams.length || reading.problem)) return null;
  const of = teams.some(({ id }) => id === session.team) ? session.team : "";
  return html`
    <label class="cq-field" title="A team's session is open to all its members, who may also rename, share or delete it">Belongs to
      <select value=${of} disabled=${giving.isActing} onChange=${({ target }) => giving.act(target.value)}>
        <option value="">Only me</option>
        ${teams.map(({ id, name }) => html`<option key=${id} value=${id}>Team ${oneLine(name, 80)}</option>`)}
      </select></label>
    <${Refusal} problem=${reading.problem ?? giving.problem} />`;
};

const keyOf = ({ type, id }) => `${type}:${id}`;

/** Whom to share it with, and with whom it is shared. */
const Grants = ({ conversation }) => {
  const path = `${conversation.path}/grants`;
  const [grants, tell] = useState([]);
  const [found, finds] = useState([EVERYONE]);
  const [chosen, chooses] = useState(keyOf(EVERYONE));
  const [right, rights] = useState("read");
  const timer = useRef(0);
  const wanted = useRef("");
  const list = useAct(async () => tell((await read(path)).items));
  const changing = useAct(async (method, asked, body = undefined) => {
    await change(method, asked, body);
    tell((await read(path)).items);
  });
  const seeking = useAct(async () => {
    let q;
    do {
      q = wanted.current;
      const { items } = await read("principals", { q, limit: 50 });
      const all = [EVERYONE, ...items];
      finds(all);
      chooses(keyOf(all.length > 1 && q ? all[1] : all[0]));
    } while (q !== wanted.current); // it was written on meanwhile
  });
  useEffect(() => {
    list.act();
    seeking.act();
    return () => clearTimeout(timer.current);
  }, []);
  const seek = ({ target }) => {
    wanted.current = target.value.trim();
    clearTimeout(timer.current);
    timer.current = window.setTimeout(seeking.act, WAIT_MS);
  };
  const share = () => {
    const { type, id } = found.find((one) => keyOf(one) === chosen) ?? EVERYONE;
    return changing.act("PUT", path, { principal_type: type, principal_id: id, right });
  };
  const unshare = ({ principal_type, principal_id }) =>
    changing.act("DELETE", `${path}?${new URLSearchParams({ principal_type, principal_id })}`);
  return html`
    <label class="cq-field">Find a person or a team<input type="text" placeholder="A part of a name" autocomplete="off" onInput=${seek} /></label>
    <div class="cq-line cq-below">
      <label class="cq-field cq-wide">With<select value=${chosen} onChange=${({ target }) => chooses(target.value)}>
        ${found.map((one) => html`<option key=${keyOf(one)} value=${keyOf(one)}>${oneLine(one.name, 80)}</option>`)}</select></label>
      <label class="cq-field">They<select value=${right} onChange=${({ target }) => rights(target.value)}>
        ${Object.entries(MAY).map(([name, words]) => html`<option key=${name} value=${name}>${words}</option>`)}</select></label>
      <button type="button" class="cq-button cq-primary" disabled=${changing.isActing} onClick=${share}>Share</button>
    </div>
    <${Refusal} problem=${changing.problem ?? list.problem ?? seeking.problem} />
    ${grants.map((grant) => html`
      <p key=${`${grant.principal_type} ${grant.principal_id}`} class="cq-line cq-between">
        <span>${icon(SIGNS[grant.principal_type])} ${oneLine(grant.principal_name, 80)} ${MAY[grant.right]}</span>
        <button type="button" class="cq-button" title="They can open the session no more" disabled=${changing.isActing}
          onClick=${() => unshare(grant)}>${icon("person_remove")} Take away</button></p>`)}`;
};

/** When a link was made, and when it ends or why it has ended. */
const linkWords = ({ created_at, revoked_at, state, expires_at }, reader) => {
  const line = `Made ${reader.moment(created_at)}`;
  if (revoked_at) return `${line}, revoked ${reader.moment(revoked_at)}`;
  if (state === "disabled") return `${line}, ended: who made it may not share this session any more`;
  if (!expires_at) return line;
  // The end is not today as a rule: its day is said as well.
  return `${line}, ${state === "expired" ? "expired" : "valid until"} ${reader.dayAndTime(expires_at)}`;
};

/** The links by which others read a session: made, listed with their states, and revoked. */
const Links = ({ conversation }) => {
  const path = `${conversation.path}/links`;
  const { reader } = conversation;
  const [links, tell] = useState([]);
  const [made, makes] = useState("");
  const [days, lasts] = useState(LINK_DAYS);
  const { act, isActing, problem } = useAct(async (method = "", id = "") => {
    if (method === "POST") {
      const { token } = await change("POST", path, { days });
      makes(`${location.origin}/shared?link=${token}`);
    } else if (method) {
      await change("DELETE", `${path}/${id}`);
      makes("");
    }
    tell((await read(path)).items);
  });
  useEffect(() => void act(), [path]);
  return html`
    <p class="cq-small">Anyone who has the link and access to this installation can read the session: messages, steps, tables and charts,
      including future ones. They cannot write or approve anything.</p>
    <div class="cq-line cq-below">
      <label class="cq-field">Days it is valid<input type="number" min="1" max=${MOST_DAYS} value=${days}
        onChange=${({ target }) => lasts(Math.min(MOST_DAYS, Math.max(1, Math.round(Number(target.value)) || LINK_DAYS)))} /></label>
      <button type="button" class="cq-button cq-primary" disabled=${isActing} onClick=${() => act("POST")}>${icon("add_link")} Make a link</button>
    </div>
    <${Refusal} problem=${problem} />
    ${made && html`<${CodeBlock} text=${made} /><p class="cq-small">Copy it now. It will not be shown again.</p>`}
    ${links.map((link) => html`
      <p key=${link.id} class=${`cq-line cq-between ${link.state === "valid" ? "" : "cq-small"}`}>
        <span>${icon(link.state === "valid" ? "link" : "link_off")} ${linkWords(link, reader)}</span>
        ${link.state === "valid" && html`<button type="button" class="cq-button" title="The link stops working for everyone" disabled=${isActing}
          onClick=${() => act("DELETE", link.id)}>${icon("link_off")} Revoke</button>`}</p>`)}`;
};
