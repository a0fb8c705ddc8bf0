// What the composer asks the API: domains, teams, and the agents that a message may mention. Agents of a
// session never change: they are asked once for as long as the tab is there.
import { read } from "../../api.js";
import { useEffect, useState } from "../../html.js";

const MOST = 200;
const BRIEF_MS = 5_000;
const NONE = [];
/** @type {Map<string, {items: Promise<any[]>, at: number}>} */
const known = new Map();

const once = (name, ask, forMs) => {
  const held = known.get(name);
  if (held && Date.now() - held.at < forMs) return held.items;
  const items = ask().catch(() => (known.delete(name), NONE));
  known.set(name, { items, at: Date.now() });
  return items;
};

/** What was asked for under a name; the empty list until it is there.
 * @param {string} name "": nothing is asked @param {() => Promise<any[]>} ask @returns {any[]} */
const useAsked = (name, ask, forMs = Infinity) => {
  const [found, tell] = useState({ name: "", items: NONE });
  useEffect(() => {
    let isWanted = name !== "";
    if (isWanted) once(name, ask, forMs).then((items) => isWanted && tell({ name, items }));
    return () => { isWanted = false; };
  }, [name]);
  return found.name === name ? found.items : NONE;
};

const allDomains = async () => {
  const found = [];
  for (let cursor = null; ; ) {
    const { items, next_cursor } = await read("domains", { limit: MOST, archived: false, cursor });
    found.push(...items);
    cursor = next_cursor;
    if (cursor === null) return found.sort((one, other) => Number(other.is_default) - Number(one.is_default));
  }
};

/** The domains of new chats, the default first. */
export const useDomains = (isWanted) => useAsked(isWanted ? "domains" : "", allDomains, BRIEF_MS);

/** The caller's teams; none where people do not sign in. */
export const useTeams = (isWanted) =>
  useAsked(isWanted ? "teams" : "", () => read("account").then(({ teams }) => teams), BRIEF_MS);

/** The agents that a message may mention: where there is a choice. */
export const useAgents = (conversation, composer, domains) => {
  const { domain: chosen } = composer.choices.value;
  const domain = domains.find(({ id }) => id === chosen) ?? domains[0];
  const path = conversation.id !== null ? `sessions/${conversation.id}/agents`
    : domain ? `domains/${domain.id}/agents` : "";
  const name = path && `${path} ${conversation.id === null ? domain.version : ""}`;
  const agents = useAsked(name, () => read(path).then(({ items }) => items));
  return agents.length > 1 || agents.some(({ is_manager }) => is_manager) ? agents : NONE;
};
