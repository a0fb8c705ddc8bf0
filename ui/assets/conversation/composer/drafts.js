// Unsent text of a tab while it reloads: by session, or for a new chat.
const STORED = "colloquy-draft-";
export const NEW_CHAT = "new";

/** Take what was stored; it is nobody else's from now on. @param {string} place */
export const takeDraft = (place) => {
  const text = sessionStorage.getItem(STORED + place) ?? "";
  sessionStorage.removeItem(STORED + place);
  return text;
};

/** Store a text; return whether there is room. @param {string} place @param {string} text */
export const storeDraft = (place, text) => {
  try {
    if (text.trim()) sessionStorage.setItem(STORED + place, text);
    else sessionStorage.removeItem(STORED + place);
    return true;
  } catch {
    return false; // a text of several megabytes
  }
};
