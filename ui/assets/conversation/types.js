// The API's own shapes, as far as the views read them: `backend/schemas`. The component has no
// vocabulary of its own.

/**
 * @typedef {"user" | "assistant" | "tool" | "system"} MessageType
 * @typedef {"pending" | "executing" | "completed" | "failed" | "stopped"} MessageStatus
 *
 * @typedef {object} DisplayMessage
 * @property {string} id
 * @property {number} position
 * @property {MessageType} message_type
 * @property {string} content_type
 * @property {Record<string, any>} content
 * @property {MessageStatus} status
 * @property {string | null} agent
 * @property {string | null} turn_id
 * @property {string} created_at
 * @property {Record<string, any>} metadata
 *
 * @typedef {object} MessagePage
 * @property {DisplayMessage[]} items
 * @property {number | null} next_before
 * @property {number | null} next_after
 *
 * @typedef {object} SharedSession
 * @property {string} id
 * @property {string} title
 * @property {string} domain
 * @property {string} owner
 * @property {number} message_count
 * @property {string} updated_at
 *
 * @typedef {object} NumberFormat How the numbers of a column are written; null: with their own decimals.
 * @property {number | null} decimals
 * @property {string} currency
 * @property {boolean} is_before
 * @property {boolean} is_percent
 * @property {string} unit
 * @property {boolean} is_grouped
 *
 * @typedef {object} Column
 * @property {string} [name]
 * @property {string} [type]
 * @property {string} [kind] money, number, date, moment or text
 * @property {NumberFormat | null} [number]
 *
 * @typedef {object} Choices Of a chart: what is chosen, and of which columns.
 * @property {string} mark
 * @property {string} x
 * @property {string} y
 * @property {string | null} colour
 * @property {string[]} columns
 * @property {string[]} values
 *
 * @typedef {object} Table
 * @property {string} [title]
 * @property {Column[]} columns
 * @property {any[][]} rows
 * @property {number} [row_count]
 * @property {number} [read_rows]
 * @property {boolean} [complete]
 * @property {string[]} [notes]
 * @property {string[]} [doubts]
 * @property {string} [result_id]
 * @property {object} [chart]
 *
 * @typedef {object} Block An element of the history: a message, or a call with what belongs to it.
 * @property {DisplayMessage} row
 * @property {DisplayMessage | null} result
 * @property {DisplayMessage | null} asked
 *
 * @typedef {object} Group Consecutive blocks of one speaker.
 * @property {boolean} isUser
 * @property {string | null} agent
 * @property {Block[]} blocks
 *
 * @typedef {object} Window The part of a history that is shown; of the latest rows without a place.
 * @property {number} limit
 * @property {number} [before]
 * @property {number} [after]
 */
export {};
