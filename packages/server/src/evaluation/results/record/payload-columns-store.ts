import { sql } from "kysely";
import { cutJsonTexts } from "../../../storage/cut-json-texts.ts";
import type { Database } from "../../../storage/schema/tables.ts";

/** What a limit of texts cuts, beside the retrieved contexts. */
export const textColumns = ["system_prompt", "input", "output", "gold_answer", "explanation"] as const;

/** What a payload has beside its texts. */
export const otherPayloadColumns = [
  "result_id",
  "error_message",
  "evaluation_micros",
  "explanation_micros",
  "additional_info",
  "dataset_sample_id",
  "run_project_id",
  "evaluated_model",
  "tags",
] as const;

/** The texts of `payload`, those that are longer cut by the database: a page of long ones is not carried here to be cut. */
export function payloadTexts(reader: Database, maxTextCharacters: number | undefined) {
  const contexts = sql.ref<string | null>("payload.retrieved_context");
  const shownContexts =
    maxTextCharacters === undefined ? contexts : cutJsonTexts(reader, contexts, maxTextCharacters);
  return [
    ...textColumns.map((column) => {
      const text = sql.ref<string | null>(`payload.${column}`);
      const shown =
        maxTextCharacters === undefined ? text : sql<string | null>`substr(${text}, 1, ${maxTextCharacters})`;
      return shown.as(column);
    }),
    shownContexts.as("retrieved_context"),
  ];
}
