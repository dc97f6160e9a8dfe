import type { Micros } from "../../../src/platform/storage/columns.ts";
import type { Database } from "../../../src/platform/storage/schema/tables.ts";
import { ordinaryRecord } from "../../../src/results/evaluation-record.fixture.ts";
import { type EvaluationRecord, type StoredResult, toRows } from "../../../src/results/result.ts";
import { addTimes, takeNumbers } from "../../../src/results/write/results-store.ts";
import { addResults } from "../../../src/results/write/write-results.ts";

/** A result to store: an ordinary one with these fields replaced. */
export type StoredFields = Partial<Omit<EvaluationRecord, "accountId">> & { createdAt?: Micros };

const { accountId: _accountId, ...ordinaryFields } = ordinaryRecord;

/** The fields of a result that most tests do not care about. */
export const ordinaryResult: Omit<EvaluationRecord, "accountId"> = {
  ...ordinaryFields,
  evaluatorId: "exact-match-2026-11-01",
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
    const rows = results.map(({ id, createdAt: created_at, ...record }) => {
      const { row, texts } = toRows(record);
      return { row: { ...row, id, created_at }, texts: { ...texts, result_id: id } };
    });
    await addTimes(
      transaction,
      rows.map(({ row }) => row),
    );
    await addResults(transaction, rows, { hasSeries: false });
    return results;
  });
}
