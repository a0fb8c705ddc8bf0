// Whose an answer is, and why the turn came to that agent.
import { aboutOf } from "../../about.js";
import { reasonSentence, routesOf, shortReason } from "../../acts/words.js";
import { oneLine } from "../../formats.js";
import { html, useState } from "../../html.js";
import { Tip } from "./tip.js";
/** @import { Conversation } from "../../store.js" */

/** How the turns of these groups came to their agents, by the first row of each group; and whether
 * agents are named at all. @param {import("../../types.js").Group[]} groups @param {Conversation} conversation */
export const speakersOf = (groups, conversation) => {
  const about = aboutOf(conversation);
  const several = new Set(groups.map(({ agent }) => agent).filter(Boolean)).size > 1;
  const isNamed = conversation.id === null ? several : about.isNamed;
  return { isNamed, routes: isNamed ? routesOf(groups, about.turns.value) : new Map() };
};

/** @param {{agent: string, route?: any, conversation: Conversation}} given */
export const NameLine = ({ agent, route = null, conversation }) => {
  const [isAsked, ask] = useState(false); // the sentence is on the page only then: the line is read without it
  const { manager } = aboutOf(conversation);
  const why = route ? shortReason(route, manager) : "";
  const shown = { onPointerEnter: () => ask(true), onPointerLeave: () => ask(false), onFocus: () => ask(true), onBlur: () => ask(false) };
  return html`
    <p class="cq-small cq-speaker"><strong>${oneLine(agent, 80)}</strong>${why && html` · ${oneLine(why, 90)}
      <${Tip} text=${isAsked ? reasonSentence(route, agent, manager, conversation.reader) : null}>
        <button type="button" class="colloquy-text-button cq-why" aria-label="Why this agent" ...${shown}></button>
      <//>`}</p>`;
};
