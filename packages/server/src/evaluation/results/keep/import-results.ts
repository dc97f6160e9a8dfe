import { forgetOldRequests, noteRequest } from "../../../storage/idempotency/idempotent-requests-store.ts";
import type { Once } from "../../../storage/idempotency/once.ts";
import type { Micros } from "../../../storage/micros.ts";
import type { Asker } from "../../../storage/reader.ts";
import type { Database } from "../../../storage/schema/tables.ts";
import type { Store } from "../../../storage/store.ts";
import type { EvaluationServices } from "../../evaluation-services.ts";
import type { EvaluatorOutcome } from "../../evaluator-outcome.ts";
import type { Sample } from "../../sample.ts";
import type { ResultMetadata } from "../record/evaluation-record.ts";
import { selectImported } from "./imported-results-store.ts";
import type { ResultWriter } from "./result-writer.ts";

/** A result that was made elsewhere. Of its evaluator and its profile only the names are known. */
export interface ImportedResult {
  evaluatorId: string;
  profileName: string | undefined;
  sample: Sample;
  metadata: ResultMetadata;
  outcome: Omit<EvaluatorOutcome, "status">;
}

/** What the response to an import tells of each result. */
export interface ImportReceipt {
  id: number;
  app: string;
  evaluatorId: string;
  createdAt: Micros;
}

/**
 * Stores results that were made elsewhere, all of them or none. A repeated request gets what the first one stored: it is
 * recorded with a name before the import, and its results have the name and their position as request keys, which are unique.
 * So they are committed with their identity, on whatever thread and in whatever batch, and nothing is stored twice.
 */
export async function importResults(
  { store, resultWriter, imports }: Pick<EvaluationServices, "store" | "resultWriter" | "imports">,
  asker: Asker,
  results: readonly ImportedResult[],
  once: Once | undefined,
): Promise<ImportReceipt[]> {
  const { accountId } = asker;
  if (once === undefined) return await keepImported(resultWriter, accountId, results);
  const name = await nameImport(store, asker, once);
  const keys = results.map((_, index) => `import/${name}/${index}`);
  const imported = imports.get(name) ?? importUnder(keys).finally(() => imports.delete(name));
  imports.set(name, imported);
  return await imported;

  async function importUnder(requestKeys: readonly string[]): Promise<ImportReceipt[]> {
    const before = await findImported(store.database, accountId, requestKeys);
    // If a repeated request in another process stored them first, the resultWriter returns those.
    return before ?? (await keepImported(resultWriter, accountId, results, requestKeys));
  }
}

async function nameImport(store: Store, asker: Asker, once: Once): Promise<string> {
  const newName = crypto.randomUUID();
  const earlier = await store
    .writer(asker)
    .transaction()
    .execute((transaction) => noteRequest(transaction, once, newName));
  if (earlier !== undefined) return earlier;
  // What cannot be deleted now is deleted by a later request.
  void forgetOldRequests(store.database).catch(() => {});
  return newName;
}

async function keepImported(
  resultWriter: ResultWriter,
  accountId: string,
  results: readonly ImportedResult[],
  requestKeys: readonly string[] = [],
): Promise<ImportReceipt[]> {
  const kept = await resultWriter.write(
    results.map(({ evaluatorId, profileName, sample, metadata, outcome }, index) => ({
      accountId,
      evaluatorId,
      ...(requestKeys[index] === undefined ? {} : { requestKey: requestKeys[index] }),
      ...(profileName === undefined ? {} : { profile: { name: profileName } }),
      explainStrategy: outcome.explanation === undefined ? "never" : "always",
      isExternal: true,
      sample,
      metadata,
      outcome: { ...outcome, status: "success" },
    })),
  );
  return kept.map(({ id, metadata, evaluatorId, createdAt }) => ({
    id,
    app: metadata.app,
    evaluatorId,
    createdAt,
  }));
}

/** The results of an import in its order, if they were stored: all of them are, or none. */
async function findImported(
  database: Database,
  accountId: string,
  keys: readonly string[],
): Promise<ImportReceipt[] | undefined> {
  const rows = await selectImported(database, accountId, keys);
  const byKey = new Map(rows.map((row) => [row.request_key, row]));
  const found = keys.flatMap((key) => {
    const row = byKey.get(key);
    return row === undefined
      ? []
      : [{ id: row.id, app: row.app, evaluatorId: row.evaluator_id, createdAt: row.created_at }];
  });
  return found.length === keys.length ? found : undefined;
}
