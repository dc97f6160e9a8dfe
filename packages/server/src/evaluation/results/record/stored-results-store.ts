import type { EvaluationCorrectionsTable } from "../../../storage/schema/evaluation-results.ts";
import type { Database } from "../../../storage/schema/tables.ts";
import type { Correction, StoredResult } from "./evaluation-record.ts";
import { fromRow } from "./from-row.ts";
import { otherPayloadColumns, payloadTexts } from "./payload-columns-store.ts";

/** Results of an account by their ids, in the same order, each with its latest correction; whole unless their texts are limited. */
export async function selectResults(
  reader: Database,
  accountId: string,
  ids: readonly number[],
  maxTextCharacters?: number,
): Promise<StoredResult[]> {
  if (ids.length === 0) return [];
  const rows = await reader
    .selectFrom("evaluation_results as result")
    .innerJoin("evaluation_payloads as payload", "payload.result_id", "result.id")
    .selectAll("result")
    .select(otherPayloadColumns)
    .select(payloadTexts(reader, maxTextCharacters))
    .select((row) =>
      row
        .selectFrom("evaluation_corrections as correction")
        .select("correction.id")
        .whereRef("correction.result_id", "=", "result.id")
        .orderBy("correction.created_at", "desc")
        .orderBy("correction.id", "desc")
        .limit(1)
        .as("correction_id"),
    )
    .where("result.id", "in", ids)
    // Here and not afterwards: the texts of another account's result are not even read.
    .where("result.account_id", "=", accountId)
    .execute();
  const corrections = await selectCorrections(
    reader,
    rows.flatMap(({ correction_id }) => (correction_id === null ? [] : [correction_id])),
  );
  const results = new Map(
    rows.map((row) => {
      const correction = corrections.get(row.id);
      return [row.id, { ...fromRow(row), ...(correction === undefined ? {} : { correction }) }];
    }),
  );
  return ids.flatMap((id) => results.get(id) ?? []);
}

/** One result of an account. */
export async function selectResult(
  reader: Database,
  accountId: string,
  id: number,
): Promise<StoredResult | undefined> {
  const [result] = await selectResults(reader, accountId, [id]);
  return result;
}

/** The results that an account has under some request keys, by key. */
export async function selectByRequestKeys(
  database: Database,
  accountId: string,
  requestKeys: readonly string[],
): Promise<Map<string, StoredResult>> {
  const rows = await database
    .selectFrom("evaluation_results")
    .select("id")
    .where("account_id", "=", accountId)
    .where("request_key", "in", requestKeys)
    .execute();
  const results = await selectResults(
    database,
    accountId,
    rows.map(({ id }) => id),
  );
  return new Map(results.map((result) => [result.requestKey ?? "", result]));
}

/** By the ids of their results. */
async function selectCorrections(reader: Database, ids: readonly string[]): Promise<Map<number, Correction>> {
  if (ids.length === 0) return new Map();
  const rows = await reader.selectFrom("evaluation_corrections").selectAll().where("id", "in", ids).execute();
  return new Map(rows.map((row) => [row.result_id, toCorrection(row)]));
}

function toCorrection({ pass, score, comment, created_at }: EvaluationCorrectionsTable): Correction {
  return {
    pass: pass === 1,
    score: score ?? undefined,
    comment: comment ?? undefined,
    createdAt: created_at,
  };
}
