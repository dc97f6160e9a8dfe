import { type Expression, type SqlBool, sql } from "kysely";
import type { Database } from "./schema/tables.ts";
import { isPostgres } from "./store.ts";

// Reads the beginnings of texts in stored JSON, without parsing the whole.

/** How the stored body of a sample begins, unless the sample has messages. */
export const interactionFirst = '{"interaction":';

/** Whether the sample of the row `payload` has messages. */
export const hasMessages = sql<SqlBool>`substr(payload.body, 1, ${sql.lit(interactionFirst.length)}) <> ${interactionFirst}`;

/** The beginnings of a sample's action and next state, from its rows `payload` and, if it has messages, `message`, the last of them. */
export function beginningsOfSample(reader: Database, maxCharacters: number) {
  const field = (json: string, name: string) =>
    beginningOfField(reader, sql.ref<string | null>(json), name, maxCharacters);
  const [content, action] = [field("message.text", "content"), field("payload.body", "action")];
  return [
    sql<string | null>`case when ${hasMessages} then ${content} else ${action} end`.as("action"),
    field("payload.body", "next_state").as("expected"),
  ] as const;
}

/** How many characters of JSON one character can take. */
const longestEscape = 6;

/** The beginning of a field's value in JSON without spaces. Inside a text, the quotes around the name would be escaped. */
export function beginningOfField(
  reader: Database,
  json: Expression<string | null>,
  name: string,
  maxCharacters: number,
) {
  const key = `"${name}":`;
  const place = placeOf(reader, json, key);
  const length = maxCharacters * longestEscape;
  return sql<
    string | null
  >`case when ${place} > 0 then substr(${json}, ${place} + ${sql.lit(key.length)}, ${sql.lit(length)}) end`;
}

/** What comes before an object's field in JSON without spaces; the whole JSON if it has no such field. */
export function jsonBefore(reader: Database, json: Expression<string>, name: string) {
  const place = placeOf(reader, json, `"${name}":`);
  return sql<string>`case when ${place} > 0 then substr(${json}, 1, ${place} - 1) else ${json} end`;
}

/** Where a text begins in another, from 1; 0 if nowhere. */
function placeOf(reader: Database, text: Expression<string | null>, part: string) {
  return isPostgres(reader) ? sql<number>`strpos(${text}, ${part})` : sql<number>`instr(${text}, ${part})`;
}

/** The text that a piece of JSON begins with, as far as it goes; null if it begins with something else. */
export function readBeginning(json: string | null, maxCharacters: number): string | null {
  const [text] = /^"(?:[^"\\]|\\u[\da-f]{4}|\\[^u])*/i.exec(json ?? "") ?? [];
  return text === undefined ? null : (JSON.parse(`${text}"`) as string).slice(0, maxCharacters);
}
