import type { Database } from "../../platform/storage/schema/tables.ts";
import { type PositionRange, predictionsIn } from "./outcomes-store.ts";

/** A run's predictions of some samples, with what was answered; null if they failed. */
export async function selectAnswers(reader: Database, runId: string, range: PositionRange) {
  const rows = await predictionsIn(reader, runId, range)
    .leftJoin("prediction_payloads as payload", (join) =>
      join.onRef("payload.prediction_id", "=", "predictions.id").on("predictions.status", "=", "success"),
    )
    .select("payload.output")
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
