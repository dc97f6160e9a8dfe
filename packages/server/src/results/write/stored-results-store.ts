import { sql } from "kysely";
import { notFound } from "../../platform/errors.ts";
import { cutJsonTexts } from "../../platform/storage/lists.ts";
import type { Database } from "../../platform/storage/schema/tables.ts";
import type { Requester, Store } from "../../platform/storage/store.ts";
import { type Correction, fromRows, type StoredResult, toCorrection } from "../result.ts";

/** The texts that a limit cuts, besides the retrieved contexts. */
const textColumns = ["system_prompt", "input", "output", "gold_answer", "explanation"] as const;
const otherPayloadColumns = [
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

/**
 * Results of an account by their ids, in the same order, each with its latest correction. Texts longer than `maxTextCharacters` are
 * cut by the database, so that a page of long ones is not carried here only to be cut.
 */
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
    .select(latestCorrectionId(reader, "result.id").as("correction_id"))
    .where("result.id", "in", ids)
    // Here and not afterwards, so that the texts of another account's result are not even read.
    .where("result.account_id", "=", accountId)
    .execute();
  const corrections = await selectCorrections(
    reader,
    rows.flatMap(({ correction_id }) => correction_id ?? []),
  );
  const results = new Map(
    rows.map((row) => [row.id, { ...fromRows(row), correction: corrections.get(row.id) }]),
  );
  return ids.flatMap((id) => results.get(id) ?? []);
}

export async function selectResult(
  reader: Database,
  accountId: string,
  id: number,
): Promise<StoredResult | undefined> {
  const [result] = await selectResults(reader, accountId, [id]);
  return result;
}

/** Approximate payload sizes in bytes, by result id. Both databases know them without reading the texts. */
export async function selectPayloadBytes(
  reader: Database,
  ids: readonly number[],
  maxTextCharacters = Number.POSITIVE_INFINITY,
): Promise<Map<number, number>> {
  if (ids.length === 0) return new Map();
  const limits: Partial<Record<(typeof longColumns)[number], number>> = {
    ...Object.fromEntries(textColumns.map((column) => [column, maxTextCharacters])),
    retrieved_context: maxContexts * maxTextCharacters,
  };
  const rows = await reader
    .selectFrom("evaluation_payloads")
    .select("result_id")
    .select(longColumns.map((column) => sql<number | null>`octet_length(${sql.ref(column)})`.as(column)))
    .where("result_id", "in", ids)
    .execute();
  return new Map(
    rows.map((row) => [
      row.result_id,
      longColumns.reduce((sum, column) => sum + Math.min(row[column] ?? 0, limits[column] ?? Infinity), 0),
    ]),
  );
}

/** The most contexts that a result has. */
const maxContexts = 50;
const longColumns = [
  ...textColumns,
  "retrieved_context",
  "additional_info",
  "evaluated_model",
  "tags",
] as const;

/** An account's results under some request keys, without their texts. */
export async function selectRowsByRequestKeys(
  database: Database,
  accountId: string,
  requestKeys: readonly string[],
) {
  return await underRequestKeys(database, accountId, requestKeys)
    .select(["id", "app", "evaluator_id", "created_at", "request_key"])
    .execute();
}

/** An account's results under some request keys, by key. */
export async function selectByRequestKeys(
  database: Database,
  accountId: string,
  requestKeys: readonly string[],
): Promise<Map<string, StoredResult>> {
  const rows = await underRequestKeys(database, accountId, requestKeys).select("id").execute();
  const results = await selectResults(
    database,
    accountId,
    rows.map(({ id }) => id),
  );
  return new Map(results.map((result) => [result.requestKey ?? "", result]));
}

function underRequestKeys(database: Database, accountId: string, requestKeys: readonly string[]) {
  return database
    .selectFrom("evaluation_results")
    .where("account_id", "=", accountId)
    .where("request_key", "in", requestKeys);
}

/** A subquery for the id of the latest correction of the result that a column of the outer query refers to. */
export function latestCorrectionId(database: Database, resultId: string) {
  return database
    .selectFrom("evaluation_corrections as latest")
    .select("latest.id")
    .where("latest.result_id", "=", sql.ref<number>(resultId))
    .orderBy("latest.created_at", "desc")
    .orderBy("latest.id", "desc")
    .limit(1);
}

/** Corrections by the ids of their results. */
async function selectCorrections(reader: Database, ids: readonly string[]): Promise<Map<number, Correction>> {
  if (ids.length === 0) return new Map();
  const rows = await reader.selectFrom("evaluation_corrections").selectAll().where("id", "in", ids).execute();
  return new Map(rows.map((row) => [row.result_id, toCorrection(row)]));
}

function payloadTexts(reader: Database, maxTextCharacters: number | undefined) {
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

export async function getResult(
  { store }: { store: Store },
  requester: Requester,
  id: number,
): Promise<StoredResult> {
  const result = await selectResult(store.briefReader(requester), requester.accountId, id);
  if (result === undefined) throw notFound("evaluation result");
  return result;
}

/** Approximate size of a result's payload in bytes; 0 if the account has no such result. */
export async function measureResult(
  { store }: { store: Store },
  requester: Requester,
  id: number,
): Promise<number> {
  const reader = store.briefReader(requester);
  const own = await reader
    .selectFrom("evaluation_results")
    .select("id")
    .where("id", "=", id)
    .where("account_id", "=", requester.accountId)
    .executeTakeFirst();
  return own === undefined ? 0 : ((await selectPayloadBytes(reader, [id])).get(id) ?? 0);
}
