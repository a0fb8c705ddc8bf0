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
 * @property {number} [sequence]
 * @property {string} created_at
 * @property {Record<string, any>} metadata
 * @property {import("./drafts.js").Draft} [draft] it is being written: not the API's, but ours
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
 * @typedef {object} Session
 * @property {string} id
 * @property {string} title
 * @property {string} domain
 * @property {string} owner
 * @property {number} message_count
 * @property {string} updated_at
 * @property {string | null} [domain_id]
 * @property {string} [status]
 * @property {number | null} [branch]
 * @property {boolean} [archived]
 * @property {string | null} [model]
 * @property {string[] | null} [models]
 * @property {string | null} [default_model]
 * @property {string | null} [parent_id]
 * @property {string | null} [owner_name]
 * @property {string | null} [deletes_at]
 * @property {string | null} [review_ends_at]
 * @property {number} [review_count]
 * @property {string | null} [team]
 * @property {string | null} [team_name]
 * @property {"read" | "continue" | "own"} [rights] a link's has none: it is only read
 *
 * @typedef {object} Turn
 * @property {string} id
 * @property {"queued" | "running" | "waiting" | "succeeded" | "failed" | "stopped"} status
 * @property {string} agent
 * @property {string | null} [model]
 * @property {{reason: string, candidate?: string, answer?: string, detail?: string, usage?: object} | null} [route]
 * @property {"people" | "tasks" | null} [waits_for]
 * @property {string} message
 * @property {boolean} stop_requested
 * @property {number} attempts
 * @property {number} losses
 * @property {number | null} [heartbeat_seconds]
 * @property {number | null} [lease_seconds]
 * @property {{seconds: number, reason: string} | null} [model_wait]
 * @property {{title: string, detail: string} | null} error
 * @property {string | null} [fork_of]
 * @property {number | null} queue_position
 * @property {string} created_at
 * @property {string | null} started_at
 *
 * @typedef {object} Progress
 * @property {string} state
 * @property {number} [seconds]
 * @property {string} [reason]
 * @property {string} [call_id]
 * @property {string} [text]
 *
 * @typedef {object} Told An event of a session, or the state of the connection to it.
 * @property {string} session
 * @property {string} [id]
 * @property {string} [event]
 * @property {any} [data]
 * @property {string} [state] away, back, gone
 * @property {string | null} [after] the event after which the stream goes on; null: from the turn's beginning
 *
 * @typedef {object} Sent A message on its way, or accepted and not in the history yet.
 * @property {string} key
 * @property {string} text
 * @property {number} after the position of the last message when it was said
 * @property {string | null} turn
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
