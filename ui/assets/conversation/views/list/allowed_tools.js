// The tools that a person has allowed for the rest of a session, and how to revoke that.
import { Refusal, useAct } from "../../acting.js";
import { change, read } from "../../api.js";
import { oneLine } from "../../formats.js";
import { html, icon, useEffect, useState } from "../../html.js";
import { Dialog } from "../dialog.js";

/** @param {{id: string, close: () => void}} given */
export const AllowedTools = ({ id, close }) => {
  const path = `sessions/${id}/allowed_tools`;
  const [tools, tell] = useState(/** @type {string[] | null} */ (null));
  const { act, isActing, problem } = useAct(async (tool) => {
    const answer = tool
      ? await change("DELETE", `${path}/${encodeURIComponent(tool)}`)
      : await read(path);
    tell(answer.allowed_tools);
  });
  useEffect(() => void act(""), [id]);
  return html`
    <${Dialog} title="Allowed tools" sign="verified_user" close=${close}>
      <${Refusal} problem=${problem} />
      ${tools?.length === 0 && html`
        <p>No tools run without asking in this session.</p>
        <p class="cq-small">When you approve a call, you can allow its tool for the rest of the session.</p>`}
      ${tools?.length > 0 && html`
        <p class="cq-small">These tools run without asking in this session. A tool that you remove asks again.</p>
        ${tools.map((tool) => html`
          <p key=${tool} class="cq-line cq-between"><strong>${oneLine(tool, 120)}</strong>
            <button type="button" class="cq-button" disabled=${isActing} onClick=${() => act(tool)}>${icon("undo")} Ask again</button></p>`)}`}
    <//>`;
};
