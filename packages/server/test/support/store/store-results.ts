import { addTimes, takeNumbers } from "../../../src/evaluation/results/keep/numbers-store.ts";
import { addResults } from "../../../src/evaluation/results/keep/write-results.ts";
import type {
  EvaluationRecord,
  StoredResult,
} from "../../../src/evaluation/results/record/evaluation-record.ts";
import type { Micros } from "../../../src/storage/micros.ts";
import type { Database } from "../../../src/storage/schema/tables.ts";

/** A result to store: an ordinary one with these fields replaced. */
export type StoredFields = Partial<Omit<EvaluationRecord, "accountId">> & { createdAt?: Micros };

/** The fields of a result that most tests do not care about. */
export const ordinaryResult: Omit<EvaluationRecord, "accountId"> = {
  evaluatorId: "exact-match-2026-11-01",
  evaluatorFamily: "exact-match",
  profile: { name: "system:default", publicId: "11111111-1111-4111-8111-111111111111", revision: 1 },
  explainStrategy: "always",
  isExternal: false,
  sample: { input: "in", output: "out" },
  metadata: { app: "default" },
  outcome: { status: "success", pass: true, score: 1 },
};

/** Stores results as the server does, with any times. */
export async function storeResults(
  database: Database,
  accountId: string,
  fields: readonly StoredFields[],
): Promise<StoredResult[]> {
  return await database.transaction().execute(async (transaction) => {
    const { ids, createdAt } = await takeNumbers(transaction, fields.length);
    const results = fields.map((given, index) => ({
      ...ordinaryResult,
      createdAt,
      ...given,
      accountId,
      id: ids[index] ?? 0,
    }));
    await addTimes(transaction, results);
    await addResults(transaction, results, { hasSeries: false });
    return results;
  });
}
