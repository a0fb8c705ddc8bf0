// What an answer is based on: pages that it cites, and tools that the model's provider ran.
import { oneLine } from "../formats.js";
import { html } from "../html.js";
import { Fold } from "./buttons.js";

const listOf = (value) => (Array.isArray(value) ? value.filter((one) => one && typeof one === "object") : []);

/** The host of a plain web address; empty for all others. @param {unknown} address */
export const hostOf = (address) => {
  try {
    const { protocol, host } = new URL(String(address));
    return /^https?:$/.test(protocol) ? host : "";
  } catch {
    return "";
  }
};

/** A link to the web, which names its host; an address that only its server knows is text. */
export const WebLink = ({ address, children }) =>
  hostOf(address)
    ? html`<a href=${address} target="_blank" rel="noopener noreferrer">${children}</a>`
    : html`<span>${children}</span>`;

const Source = ({ url, title }) => html`
  <li><${WebLink} address=${url}>${oneLine(title || url || "(unnamed)", 120)}<//>${title && url ? ` · ${hostOf(url) || oneLine(url)}` : ""}</li>`;

const Lines = ({ metadata }) => html`
  <ol class="cq-sources">${listOf(metadata.sources).map((source) => html`<${Source} ...${source} />`)}</ol>
  ${metadata.more_sources && html`<p class="cq-small">and ${String(metadata.more_sources)} more</p>`}
  ${listOf(metadata.executed_tools).map(({ name, arguments: given }) => html`
    <p class="cq-small">The provider ran <strong>${oneLine(name || "tool", 120)}</strong> ${oneLine(given)}</p>`)}`;

const labelOf = (metadata) => {
  const [sources, tools] = [listOf(metadata.sources).length, listOf(metadata.executed_tools).length];
  const words = [];
  if (sources) words.push(sources === 1 ? "1 source" : `${sources} sources`);
  if (tools) words.push(tools === 1 ? "1 tool that the provider ran" : `${tools} tools that the provider ran`);
  return words.join(" · ");
};

/** The list, folded; `within` something that is itself folded, openly. */
export const Sources = ({ metadata, within = false }) => {
  const label = labelOf(metadata);
  if (!label) return null;
  if (within) return html`<p class="cq-small">${label}</p><${Lines} metadata=${metadata} />`;
  return html`<${Fold} sign="link" label=${label}><${Lines} metadata=${metadata} /><//>`;
};
