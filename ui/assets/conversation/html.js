// What all views are made with: elements as templates, state as signals.
import htm from "../vendor/htm.mjs";
import { h } from "../vendor/preact.mjs";

export { render } from "../vendor/preact.mjs";
export { useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from "../vendor/preact-hooks.mjs";
export { batch, computed, effect, signal, untracked, useSignal } from "../vendor/signals.mjs";

/** @type {(parts: TemplateStringsArray, ...values: any[]) => any} */
export const html = htm.bind(h);

/** A sign of the pages' icon font, which readers of the screen do not read. */
export const icon = (name) => html`<span class="cq-icon" aria-hidden="true">${name}</span>`;
