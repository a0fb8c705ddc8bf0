// Thumbs under an answer, and a sentence beside them once one is chosen.
import { aboutOf } from "../../about.js";
import { Refusal, useAct } from "../../acting.js";
import { change } from "../../api.js";
import { html, icon, useEffect, useRef, useState } from "../../html.js";

const MOST_CHARS = 2_000;
const THUMBS = [["up", "thumb_up", "Thumbs up"], ["down", "thumb_down", "Thumbs down"]];

const Comment = ({ own, give, close }) => {
  const [text, write] = useState(own.comment);
  const input = useRef(null);
  useEffect(() => input.current.focus(), []);
  const { act, isActing, problem } = useAct(() => give(own.rating, text));
  const save = async () => (await act()) && close(true);
  return html`
    <form class="cq-card cq-comment" onSubmit=${(event) => (event.preventDefault(), save())}
      onKeyDown=${(event) => event.key === "Escape" && (event.stopPropagation(), close(false))}>
      <label class="cq-label">${own.rating === "up" ? "What was good?" : "What was wrong?"}
        <textarea ref=${input} class="cq-input" rows="3" maxlength=${MOST_CHARS} value=${text} onInput=${({ currentTarget }) => write(currentTarget.value)}></textarea>
      </label>
      <p class="cq-small">Those who review sessions read this.</p>
      <button class="cq-button" disabled=${isActing}>Save comment</button>
      <${Refusal} problem=${problem} />
    </form>`;
};

/** @param {{figures: any, conversation: import("../../store.js").Conversation}} given */
export const Feedback = ({ figures: { turn_id, feedback: own }, conversation }) => {
  const [state, tell] = useState(""); // "written": a comment is being written; "saved": it was
  const opener = useRef(null);
  const about = aboutOf(conversation);
  const path = `turns/${turn_id}/feedback`;
  const give = async (rating, comment) => about.setFeedback(turn_id, await change("POST", path, { rating, comment }));
  const { act, problem } = useAct(async (rating) => {
    tell("");
    if (own?.rating !== rating) return give(rating, own?.comment ?? "");
    await change("DELETE", path); // pressed again, it is taken back
    about.setFeedback(turn_id, null);
  });
  const close = (isSaved) => {
    tell(isSaved ? "saved" : "");
    opener.current?.focus();
  };
  return html`
    <span class="cq-thumbs" role="radiogroup" aria-label="What do you think of this answer?">${THUMBS.map(([rating, sign, label]) => html`
      <button type="button" role="radio" class="colloquy-text-button" aria-label=${label} title=${label}
        aria-checked=${String(own?.rating === rating)} onClick=${() => act(rating)}>${icon(sign)}</button>`)}
    </span>
    ${own && html`<button ref=${opener} type="button" class="colloquy-text-button" aria-expanded=${String(state === "written")}
      onClick=${() => tell(state === "written" ? "" : "written")}>${own.comment ? "Change comment" : "Add a comment"}</button>`}
    <span class="cq-small" role="status">${state === "saved" ? "Thank you. Your comment was saved." : ""}</span>
    <${Refusal} problem=${problem} />
    ${own && state === "written" && html`<${Comment} own=${own} give=${give} close=${close} />`}`;
};
