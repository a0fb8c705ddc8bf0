// The page of a new chat: an introduction, what it is made from and whose it is, and questions to begin with.
import { composerOf } from "../../composer/composer.js";
import { oneLine } from "../../formats.js";
import { html, icon } from "../../html.js";
import { useDomains, useTeams } from "./asked.js";
import { Choice } from "./choice.js";

const DEMO_HELP = "The answers come from the bundled demo model, which knows a few example questions only. "
  + "To connect a real one, open Models under Administration, or set OPENAI_API_KEY (and OPENAI_BASE_URL for a "
  + "provider other than OpenAI) in .env and restart.";

const ModelBadge = ({ server: { is_demo_model, model } }) => is_demo_model
  ? html`<span class="cq-badge cq-demo" title=${DEMO_HELP}>${icon("science")} Demo model</span>`
  : model && html`<span class="cq-badge">${icon("bolt")} ${oneLine(model, 60)}</span>`;

/** Until the first message is sent. @param {{app: any, conversation: any}} given */
export const Opening = ({ app, conversation }) => {
  const server = app.server.value;
  const domains = useDomains(true);
  const teams = useTeams(Boolean(server?.has_accounts));
  if (conversation.id !== null || conversation.sent.value.length) return null;
  const composer = composerOf(null);
  const { domain: chosen, team } = composer.choices.value;
  const domain = domains.find(({ id }) => id === chosen) ?? domains[0];
  return html`
    <section class="cq-opening">
      <h1>What would you like to know?</h1>
      <p class="cq-small">Ask in plain words. Agents look things up, compare and compute, and show each step. Long work continues after you close this page.</p>
      ${server && html`<${ModelBadge} server=${server} />`}
      ${domains.length > 1 && html`
        <${Choice} id="cq-domains" label="Domain" value=${domain.id} options=${domains.map(({ id, name }) => ({ value: id, label: name }))}
          choose=${(id) => composer.choose({ domain: id })} />
        ${domain.description && html`<p class="cq-small">${oneLine(domain.description)}</p>`}`}
      ${teams.length > 0 && html`
        <${Choice} id="cq-teams" label="Whose chat it is" value=${team ?? ""}
          options=${[{ value: "", label: "Only me" }, ...teams.map(({ id, name }) => ({ value: id, label: `Team ${name}` }))]}
          choose=${(id) => composer.choose({ team: id || null })} />`}
      <div class="cq-questions">${(domain?.suggestions ?? []).map((question) => html`
        <button type="button" class="cq-button" onClick=${() => composer.say(question)}>${icon("chat_bubble")} <span>${oneLine(question)}</span></button>`)}</div>
      ${server?.is_demo_model && html`<p class="cq-small">${icon("science")} ${DEMO_HELP}</p>`}
    </section>`;
};
