/**
 * The API's own shape of a session: `backend/schemas/conversations/sessions.py`.
 * @typedef {object} Session
 * @property {string} id
 * @property {string} title
 * @property {string} domain
 * @property {string} status
 * @property {string | null} waits_for
 * @property {boolean} has_failed
 * @property {boolean} pinned
 * @property {boolean} archived
 * @property {number} message_count
 * @property {string | null} parent_id
 * @property {string[] | null} models
 * @property {string} owner
 * @property {string | null} owner_name
 * @property {string | null} review_ends_at
 * @property {number} review_count
 * @property {string | null} team
 * @property {string | null} team_name
 * @property {"read" | "continue" | "own"} rights
 * @property {string} updated_at
 *
 * @typedef {object} Act What a person chose, from the press until the API has answered.
 * @property {"rename" | "pin" | "unpin" | "archive" | "restore" | "delete" | "undelete" | "clear"} do
 * @property {string[]} ids
 * @property {string} [title]
 */
export {};
