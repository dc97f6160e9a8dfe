import type { Database, Micros } from "../../storage/tables.ts";
import type { Correction } from "./evaluation-record.ts";

/** What was said about a result at that time, which no other correction of it has. */
export async function selectCorrectionAt(
  database: Database,
  resultId: number,
  createdAt: Micros,
): Promise<Correction | undefined> {
  const row = await database
    .selectFrom("evaluation_corrections")
    .select(["pass", "score", "comment"])
    .where("result_id", "=", resultId)
    .where("created_at", "=", createdAt)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  return {
    pass: row.pass === 1,
    score: row.score ?? undefined,
    comment: row.comment ?? undefined,
    createdAt,
  };
}
