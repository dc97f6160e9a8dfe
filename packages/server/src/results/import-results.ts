import type { EvaluatorOutcome, Sample } from "../evaluators/outcome.ts";
import type { Changer } from "../platform/actor.ts";
import { forgetOldRequests, recordRequest } from "../platform/storage/idempotent-requests-store.ts";
import type { Micros } from "../platform/storage/micros.ts";
import type { Once } from "../platform/storage/once.ts";
import type { Requester } from "../platform/storage/reader.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import type { Store } from "../platform/storage/store.ts";
import type { NewProject } from "./create-project.ts";
import type { ResultMetadata } from "./evaluation-record.ts";
import type { EvaluationServices } from "./evaluation-services.ts";
import { placeResults } from "./place-results.ts";
import { refuseRunIds } from "./refuse-run-ids.ts";
import { selectRowsByRequestKeys } from "./write/stored-results-store.ts";

type ImportServices = Pick<EvaluationServices, "store" | "resultWriter" | "keysInFlight" | "freeRunIds">;

/** An external result: only the names of its evaluator and profile are known. */
export interface ImportedResult {
  evaluatorId: string;
  profileName: string | undefined;
  sample: Sample;
  metadata: ResultMetadata;
  /** In place of the metadata's project id. It is created if there is none of this name. */
  project: NewProject | undefined;
  outcome: Omit<EvaluatorOutcome, "status">;
}

/** What the response to an import says about each result. */
export interface ImportReceipt {
  id: number;
  app: string;
  evaluatorId: string;
  createdAt: Micros;
}

/**
 * Stores external results, all or none. A repeated request gets what the first one stored: the import is recorded under a
 * name, which with their positions makes the results' request keys, and these are unique.
 */
export async function importResults(
  services: ImportServices,
  requester: Changer,
  results: readonly ImportedResult[],
  once: Once | undefined,
): Promise<ImportReceipt[]> {
  const { store, keysInFlight } = services;
  const { accountId } = requester;
  await refuseRunIds(
    services,
    accountId,
    results.map(({ metadata }) => metadata.runId),
  );
  if (once === undefined) return await writeImported(services, requester, results);
  const name = await nameImport(store, requester, once);
  const keys = results.map((_, index) => `import/${name}/${index}`);
  return await keysInFlight.withKeys([`${accountId}/${name}`], requester.signal, async () => {
    const before = await findImported(store.database, accountId, keys);
    // If a repeated request in another process stored them first, the writer returns those.
    return before ?? (await writeImported(services, requester, results, keys));
  });
}

async function nameImport(store: Store, requester: Requester, once: Once): Promise<string> {
  const newName = crypto.randomUUID();
  const earlier = await store
    .writer(requester)
    .transaction()
    .execute((transaction) => recordRequest(transaction, once, newName));
  if (earlier !== undefined) return earlier;
  // A failed deletion is made up for by a later request.
  void forgetOldRequests(store.database).catch(() => {});
  return newName;
}

async function writeImported(
  services: ImportServices,
  requester: Changer,
  results: readonly ImportedResult[],
  requestKeys: readonly string[] = [],
): Promise<ImportReceipt[]> {
  const wanted = results.map(({ metadata: { projectId, experimentId }, project }) => ({
    projectId,
    project,
    experimentId,
  }));
  const placements = await placeResults(services, requester, wanted);
  const stored = await services.resultWriter.write(
    results.map(({ evaluatorId, profileName, sample, metadata, outcome }, index) => ({
      accountId: requester.accountId,
      evaluatorId,
      requestKey: requestKeys[index],
      profile: profileName === undefined ? undefined : { name: profileName },
      explainStrategy: outcome.explanation === undefined ? "never" : "always",
      isExternal: true,
      sample,
      metadata: { ...metadata, ...placements[index] },
      outcome: { ...outcome, status: "success" },
    })),
  );
  return stored.map(({ id, metadata, evaluatorId, createdAt }) => ({
    id,
    app: metadata.app,
    evaluatorId,
    createdAt,
  }));
}

/** The results of an import in its order, if they are stored: all are, or none. */
async function findImported(
  database: Database,
  accountId: string,
  keys: readonly string[],
): Promise<ImportReceipt[] | undefined> {
  const rows = await selectRowsByRequestKeys(database, accountId, keys);
  const byKey = new Map(rows.map((row) => [row.request_key, row]));
  const found = keys.flatMap((key) => {
    const row = byKey.get(key);
    return row === undefined
      ? []
      : [{ id: row.id, app: row.app, evaluatorId: row.evaluator_id, createdAt: row.created_at }];
  });
  return found.length === keys.length ? found : undefined;
}
