import type { Database } from "../../platform/storage/schema/tables.ts";
import type { PositionRange } from "./outcomes-store.ts";

/** A run's prediction of a sample. */
export interface AnswerRow {
  position: number;
  repeat: number;
  /** Null if it failed. */
  output: string | null;
}

/** A run's predictions of some samples, with what was answered. */
export async function selectAnswers(
  reader: Database,
  runId: string,
  { after, upTo }: PositionRange,
): Promise<AnswerRow[]> {
  const rows = await reader
    .selectFrom("predictions as prediction")
    .leftJoin("prediction_payloads as payload", (join) =>
      join.onRef("payload.prediction_id", "=", "prediction.id").on("prediction.status", "=", "success"),
    )
    .select((of) => [
      of.ref("prediction.position").$notNull().as("position"),
      of.ref("prediction.repeat").$notNull().as("repeat"),
      "payload.output",
    ])
    .where("prediction.run_id", "=", runId)
    .where("prediction.position", ">", after)
    .where("prediction.position", "<=", upTo)
    .execute();
  return rows.map((row) => ({ ...row, position: Number(row.position), repeat: Number(row.repeat) }));
}

/** What some samples recorded: their bodies and, of those with messages, the last one, as JSON. */
export async function selectRecorded(
  reader: Database,
  revisionId: number,
  { after, upTo }: PositionRange,
): Promise<{ position: number; body: string; message: string | null }[]> {
  const rows = await reader
    .selectFrom("dataset_payloads as payload")
    .leftJoin("dataset_parts as part", (join) =>
      join
        .onRef("part.revision_id", "=", "payload.revision_id")
        .onRef("part.digest", "=", "payload.part")
        .on("payload.body", "not like", '{"interaction":%'),
    )
    .select(["payload.position", "payload.body", "part.text as message"])
    .where("payload.revision_id", "=", revisionId)
    .where("payload.position", ">", after)
    .where("payload.position", "<=", upTo)
    .execute();
  return rows.map((row) => ({ ...row, position: Number(row.position) }));
}
