// What keeps a conversation from going on, beside it: the state of the service, a broken address, a
// review that needs a reason.
import { Refusal, useAct } from "../acting.js";
import { change } from "../api.js";
import { oneLine } from "../formats.js";
import { html, icon, useState } from "../html.js";

const MOST_REASON_CHARS = 500;
const LAST_KNOWN = "The page shows the last known state.";
const AWAY = [LAST_KNOWN, "Nothing is lost: turns go on without this page, and it reconnects by itself."].join(" ");
const CUT_OFF = [LAST_KNOWN, "Turns go on without it, and it reconnects by itself."].join(" ");
const NO_MODEL = html`<strong>No model is configured.</strong> Connect one on the page ${html`<em>Models</em>`}, or set OPENAI_API_KEY, and MODEL or
  OPENAI_BASE_URL where needed, in <code>.env</code> and restart. With none of them set, the demo model answers.`;
// In this order: without Redis the workers are unknown, so nothing is said about them.
const MISSING = [
  ["database", "database_off", html`<strong>The database does not answer.</strong> Accepted messages are kept and continue when
    the database is back; until then, nothing new can be sent.`],
  ["redis", "sync_problem", html`<strong>Redis does not answer.</strong> Live updates pause; what you send is kept and runs.`],
  ["worker", "hourglass_disabled", html`<strong>No worker is running.</strong> Messages are kept and answered as soon as one
    starts: <code>make worker</code>, or restart all with <code>make run</code>.`],
];

const Warning = ({ sign, role = "status", children }) =>
  html`<div class="cq-warning" role=${role}>${icon(sign)}<div>${children}</div></div>`;

/** What keeps turns from being answered, if anything: only the most serious. */
export const ServiceState = ({ app }) => {
  const server = app.server.value;
  const [, sign, words] = (server && MISSING.find(([part]) => server.missing.includes(part))) ?? [];
  return html`
    ${app.isBroken.value && html`<div class="cq-info" role="status">${icon("link_off")}<div>
      This link does not point to a session. Choose one in the sidebar, or ask below.</div></div>`}
    ${server && !server.model ? html`<${Warning} sign="power_off">${NO_MODEL}<//>`
      : words && html`<${Warning} sign=${sign}>${words}<//>`}`;
};

/** The service cannot be read now. @param {{problem: import("../api.js").Problem | null}} given */
export const Away = ({ problem }) => {
  if (!problem) return null;
  if (problem.status === 0) return html`<${Warning} sign="cloud_off" role="alert"><strong>The connection is interrupted.</strong> ${CUT_OFF}<//>`;
  if (problem.isAway) return html`<${Warning} sign="cloud_off" role="alert"><strong>The service does not answer.</strong> ${AWAY}<//>`;
  return html`<${Refusal} problem=${problem} />`;
};

/** Why a reviewer reads somebody else's session; it is read once they say it. */
export const Review = ({ problem, id, begun }) => {
  const [reason, write] = useState("");
  const { act, isActing, problem: refused } = useAct(async () => {
    await change("POST", `sessions/${id}/reviews`, { reason });
    await begun();
  });
  return html`
    <h2>Read somebody else's session</h2>
    <p>${oneLine(problem.detail, 500)}</p>
    <form class="cq-form" onSubmit=${(event) => { event.preventDefault(); act(); }}>
      <label>Reason <input value=${reason} maxlength=${MOST_REASON_CHARS} onInput=${({ target }) => write(target.value)} /></label>
      <button class="cq-button cq-primary" disabled=${isActing}>${icon("visibility")} Read it</button>
    </form>
    <${Refusal} problem=${refused} />
    <p class="cq-small">For an hour from now you may read it, and change nothing in it.</p>`;
};
