import type { Changer } from "../../platform/actor.ts";
import { ServiceError } from "../../platform/errors.ts";
import { recordChange } from "../../platform/record-change.ts";
import { readDatabaseClock } from "../../platform/storage/database-clock.ts";
import type { Requester } from "../../platform/storage/reader.ts";
import type { ResultDeletionsTable } from "../../platform/storage/schema/deletion.ts";
import type { EvaluationServices } from "../evaluation-services.ts";
import type { SearchFilter } from "../search/result-filter.ts";
import { searchIds } from "../search/search-results.ts";
import { selectCandidatesOf } from "./deleted-results-store.ts";
import { insertDeletion, selectDeletion } from "./result-deletions-store.ts";

type DeletionServices = Pick<EvaluationServices, "store" | "deletions">;

/** Some tens of milliseconds. */
const idsAtOnce = 5_000;

/** What a deletion by filter is about. */
export interface DeletableResults {
  count: number;
  /** Results of runs and experiments, which stay. */
  kept: number;
  /** The greatest number among them; 0: there are none. */
  upToId: number;
}

export async function countDeletable(
  { store }: Pick<DeletionServices, "store">,
  requester: Requester,
  filter: SearchFilter,
): Promise<DeletableResults> {
  const { accountId, signal } = requester;
  const reader = store.reader(requester);
  const counted: DeletableResults = { count: 0, kept: 0, upToId: 0 };
  let rest = filter;
  for (;;) {
    signal.throwIfAborted();
    const ids = await searchIds(reader, accountId, rest, { order: "oldest-first", limit: idsAtOnce });
    for (const { isOfRun } of await selectCandidatesOf(reader, accountId, ids)) {
      if (isOfRun) counted.kept += 1;
      else counted.count += 1;
    }
    const last = ids.at(-1);
    if (last === undefined) return counted;
    counted.upToId = last;
    if (ids.length < idsAtOnce) return counted;
    rest = { ...filter, afterId: last };
  }
}

/** Deletes the results of a filter in the background if they are as many as the caller expects. Later ones stay. */
export async function startDeletion(
  services: DeletionServices,
  requester: Changer,
  { filter, expectedCount, userId }: { filter: SearchFilter; expectedCount: number; userId: string },
): Promise<ResultDeletionsTable> {
  // Before the count, by the clock of corrections: what is corrected from now on stays.
  const createdAt = await readDatabaseClock(services.store.database);
  const { count, upToId } = await countDeletable(services, requester, filter);
  if (count !== expectedCount)
    throw new ServiceError(
      "conflict",
      `${count} results match by now, not ${expectedCount}. Nothing was deleted. Ask for the count again.`,
    );
  const row: ResultDeletionsTable = {
    id: Bun.randomUUIDv7(),
    account_id: requester.accountId,
    filter: JSON.stringify(filter),
    matched: count,
    after_id: 0,
    up_to_id: upToId,
    deleted: 0,
    created_by: userId,
    created_at: createdAt,
    finished_at: null,
  };
  await services.store
    .writer(requester)
    .transaction()
    .execute(async (transaction) => {
      await insertDeletion(transaction, row);
      const detail = { deletion: row.id, count };
      await recordChange(transaction, requester, {
        action: "evaluation_result.delete",
        objectId: "many",
        detail,
      });
    });
  services.deletions.schedule();
  return row;
}

export async function findDeletion(
  { store }: Pick<DeletionServices, "store">,
  { accountId }: Requester,
  id: string,
): Promise<ResultDeletionsTable> {
  const found = await selectDeletion(store.database, accountId, id);
  if (found === undefined) throw new ServiceError("not_found", "There is no such deletion of results.");
  return found;
}
