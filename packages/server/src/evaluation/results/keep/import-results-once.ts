import { forgetOldRequests, noteRequest } from "../../../storage/idempotency/idempotent-requests-store.ts";
import type { Once } from "../../../storage/idempotency/once.ts";
import type { Asker, Writer } from "../../../storage/reader.ts";
import type { Database, Micros } from "../../../storage/schema/tables.ts";
import type { KeptResult } from "../record/evaluation-record.ts";
import { type ImportedResult, importResults } from "./import-results.ts";
import { selectImported } from "./imported-results-store.ts";
import type { ResultsKeeper } from "./keep-results.ts";

/** What an import is answered with. */
export interface ImportReceipt {
  id: number;
  app: string;
  evaluatorId: string;
  createdAt: Micros;
}

export type ImportResultsOnce = (
  asker: Asker,
  results: readonly ImportedResult[],
  once: Once | undefined,
) => Promise<ImportReceipt[]>;

/**
 * Keeps results that were made elsewhere, and of an import that came before finds what was kept. An import is noted with a
 * name of its own before it is done; its results bear the name and their place as request keys, which are unique. So they
 * are committed with what they are known by, on whatever thread and in whatever batch, and nothing is kept twice.
 */
export function createImportOnce(
  { database, writer }: { database: Database; writer: Writer },
  keeper: ResultsKeeper,
): ImportResultsOnce {
  /** By the names of the imports, so that a twin shares the outcome and meets no conflict. */
  const underWay = new Map<string, Promise<ImportReceipt[]>>();

  async function nameImport(asker: Asker, once: Once): Promise<string> {
    const newName = crypto.randomUUID();
    const earlier = await writer(asker)
      .transaction()
      .execute((transaction) => noteRequest(transaction, once, newName));
    if (earlier !== undefined) return earlier;
    // What cannot be cleared away now is cleared away by a later one.
    void forgetOldRequests(database).catch(() => {});
    return newName;
  }

  async function importUnder(name: string, accountId: string, results: readonly ImportedResult[]) {
    const keys = results.map((_, index) => `import/${name}/${index}`);
    const before = await findImported(database, accountId, keys);
    if (before !== undefined) return before;
    // In the place of what a twin in another process was first to keep, the keeper gives that.
    return (await importResults(keeper, accountId, results, keys)).map(toReceipt);
  }

  return async (asker, results, once) => {
    const { accountId } = asker;
    if (once === undefined) return (await importResults(keeper, accountId, results)).map(toReceipt);
    const name = await nameImport(asker, once);
    const imported =
      underWay.get(name) ?? importUnder(name, accountId, results).finally(() => underWay.delete(name));
    underWay.set(name, imported);
    return await imported;
  };
}

/** All of an import's results in its own order, if they were kept: they are together or not at all. */
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

function toReceipt({ id, filing, evaluatorId, createdAt }: KeptResult): ImportReceipt {
  return { id, app: filing.app, evaluatorId, createdAt };
}
