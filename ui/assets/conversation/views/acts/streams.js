// What streams in the tasks of a running plan, so that one page shows several agents at once.
import { aboutOf } from "../../about.js";
import { app } from "../../app.js";
import { oneLine } from "../../formats.js";
import { html, useEffect, useMemo } from "../../html.js";
import { markOf } from "../../marks.js";
import { Conversation } from "../../store.js";
import { Markdown } from "../text.js";

const MOST_HEARD = 4; // tasks at a time; the plan's picture shows all

const Stream = ({ task, reader }) => {
  const its = useMemo(() => new Conversation(`sessions/${task.session_id}`, reader), []);
  useEffect(() => {
    its.live.begin(app.wire);
    return () => its.live.end();
  }, []);
  const { colour, initial } = markOf(task.agent);
  return its.live.drafts.value.filter(({ row }) => row.content_type === "text").map((draft) => html`
    <article key=${draft.row.id} class="cq-message cq-streams" aria-busy="true" aria-label=${`Message of ${oneLine(task.agent, 80)}`}>
      <span class="cq-face" style=${{ background: colour }} aria-hidden="true">${initial}</span>
      <div class="cq-body">
        <p class="cq-small"><strong>${oneLine(task.agent, 80)}</strong> · ${oneLine(task.name, 120)}</p>
        <${Markdown} text="" reader=${reader} draft=${draft} />
      </div>
    </article>`);
};

/** @param {{conversation: Conversation}} given */
export const TaskStreams = ({ conversation }) => {
  const running = aboutOf(conversation).plans.value.flatMap(({ tasks }) => tasks)
    .filter(({ status, session_id }) => status === "running" && session_id).slice(0, MOST_HEARD);
  return running.map((task) => html`<${Stream} key=${task.id} task=${task} reader=${conversation.reader} />`);
};
