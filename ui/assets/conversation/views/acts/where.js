// Why the page does not show the message that somebody looks for, and the way to it.
import { Refusal, useAct } from "../../acting.js";
import { change } from "../../api.js";
import { html, icon, useEffect, useState } from "../../html.js";
import { BUSY } from "./actions.js";
import { Tip } from "./tip.js";
/** @import { Conversation } from "../../store.js" */

/** The page does not show the message that the address names: why, and how to get to it.
 * @param {{conversation: Conversation}} given */
export const WhereItIs = ({ conversation }) => {
  const marked = conversation.marked.value;
  const position = marked?.row === null ? marked.position : null;
  const [found, keep] = useState(/** @type {{position: number, row: any} | null} */ (null));
  useEffect(() => {
    if (position === null) return;
    conversation.ask(`${conversation.path}/messages`, { around: position, limit: 1 })
      .then(({ items }) => keep({ position, row: items.find((row) => row.position === position) }), () => keep(null));
  }, [position]);
  const { act, problem } = useAct(async () => {
    await change("POST", `${conversation.path}/branch`, { turn_id: found.row.turn_id });
    await conversation.refresh();
    await conversation.jump(position);
  });
  if (position === null || found?.position !== position) return null;
  const isBusy = conversation.isBusy.value;
  const isOffered = found.row?.turn_id && conversation.may.value.ask;
  const words = !found.row ? "This message does not exist in this session. Showing the latest messages."
    : `The message is on ${isOffered ? "another branch" : "a branch that is not shown"}. This is the version in its place.`;
  return html`
    <div class="cq-info" role="status">${icon("info")}<div>${words}</div></div>
    ${isOffered && html`<${Tip} text=${isBusy ? BUSY : null}>
      <button type="button" class="cq-button" disabled=${isBusy} onClick=${() => act()}>${icon("alt_route")} Show its branch</button><//>`}
    <${Refusal} problem=${problem} />`;
};
