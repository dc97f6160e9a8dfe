import {
  EvaluationResultDeleteQuery,
  EvaluationResultDeletion,
  EvaluationResultDeletionCount,
  EvaluationResultDeletionPath,
  EvaluationResultPath,
  isTrueWord,
  readResultId,
} from "@presage/contract";
import { keepOpen } from "../../http/call.ts";
import { errorResponse, noSuch, response } from "../../http/describe.ts";
import { reply, route } from "../../http/route.ts";
import { InvalidRequestError, missing } from "../../http/validate.ts";
import { type Changer, recordChange } from "../../platform/audit.ts";
import { conflict, notFound } from "../../platform/errors.ts";
import { readDatabaseClock } from "../../platform/storage/clock.ts";
import { isoInstantOrNull, toIsoInstant } from "../../platform/storage/columns.ts";
import type { ResultDeletionsTable } from "../../platform/storage/schema/results.ts";
import { inTransaction, type Requester, type Store } from "../../platform/storage/store.ts";
import examples from "../examples.json" with { type: "json" };
import type { SearchFilter } from "../search/filter.ts";
import {
  type FilterServices,
  readExportQuery,
  readSearchFilter,
  searchIds,
} from "../search/search-results.ts";
import type { CountsMerger } from "../write/merge-counts.ts";
import { deleteResult } from "./delete-results.ts";
import { insertDeletion, selectCandidatesOf, selectDeletion } from "./deleted-results-store.ts";

interface DeletionServices {
  store: Store;
  /** Works through deletions by filter in the background. */
  deletions: { schedule(): void };
}

const path = "/v1/evaluation-results";

const deleteMany = route("DELETE", path, {
  needs: "manage",
  id: "deleteEvaluationResults",
  summary: "Delete the results of a search",
  description:
    "Deletes all results that match the filters, which are those of the search. First count them with `dry_run=true`, then send that number as `expected_count`. Deletion continues in the background, even after a restart of the server; results stored later stay. Results of runs and experiments stay as long as these do.",
  query: EvaluationResultDeleteQuery,
  hasOldNames: true,
  responses: {
    "200": response("With dry_run: how many results would be deleted", EvaluationResultDeletionCount, {
      count: 41_200,
      kept: 300,
    }),
    "202": response(
      "The deletion, which continues in the background",
      EvaluationResultDeletion,
      examples.deletion,
    ),
    "409": errorResponse(
      "A different number of results matches",
      "41201 results match by now, not 41200. Nothing was deleted. Ask for the count again.",
    ),
  },
  async handle(services: DeletionServices & FilterServices, { call, requester, query }) {
    const { dry_run, expected_count: expected, ...filters } = query;
    const isDryRun = dry_run !== undefined && isTrueWord(dry_run);
    if (!isDryRun && expected === undefined)
      throw new InvalidRequestError([missing(["query", "expected_count"], query)]);
    keepOpen(call);
    const filter = await readSearchFilter(services, requester, readExportQuery(filters).filter);
    if (isDryRun) {
      const { count, kept } = await countDeletable(services, requester, filter);
      return reply(200, { count, kept });
    }
    const wanted = { filter, expectedCount: Number(expected), userId: call.caller.userId };
    return reply(202, toDeletion(await startDeletion(services, requester, wanted)));
  },
});

const getDeletion = route("GET", "/v1/evaluation-result-deletions/:id", {
  needs: "read",
  id: "getEvaluationResultDeletion",
  summary: "Show a deletion of results",
  description: "Shows the progress of a deletion of results. It can be read for 30 days after its end.",
  params: EvaluationResultDeletionPath,
  responses: {
    "200": response("The deletion", EvaluationResultDeletion, {
      ...examples.deletion,
      status: "finished",
      deleted: 41_200,
      finished_at: "2026-11-22T03:47:30.512Z",
    }),
    ...noSuch("deletion", "deletion of results"),
  },
  async handle({ store }: DeletionServices, { requester, params }) {
    const found = await selectDeletion(store.database, requester.accountId, params.id.toLowerCase());
    if (found === undefined) throw notFound("deletion of results");
    return reply(200, toDeletion(found));
  },
});

const deleteOne = route("DELETE", `${path}/:id`, {
  needs: "manage",
  id: "deleteEvaluationResult",
  summary: "Delete a result",
  description:
    "Deletes one result with its texts and corrections; summaries no longer count it. A result of a run or an experiment stays as long as the run or experiment does.",
  params: EvaluationResultPath,
  responses: {
    "204": { description: "Deleted" },
    ...noSuch("result", "evaluation result"),
    "409": errorResponse(
      "The result belongs to a run",
      "This result belongs to a run or an experiment, whose figures it is part of. Delete the run first.",
    ),
  },
  async handle(
    services: { store: Store; countsMerger: Pick<CountsMerger, "schedule"> },
    { requester, params },
  ) {
    await deleteResult(services, requester, readResultId(params.id));
    return reply(204, undefined);
  },
});

export const resultDeletionRoutes = [deleteMany, getDeletion, deleteOne];

/** Takes some tens of milliseconds. */
const idsAtOnce = 5_000;

/** The results that a deletion by filter concerns. */
export interface DeletableResults {
  count: number;
  /** Results of runs and experiments, which stay. */
  kept: number;
  /** The greatest number of these results; 0 if there are none. */
  upToId: number;
}

async function countDeletable(
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
    for (const { is_of_run } of await selectCandidatesOf(reader, accountId, ids)) {
      if (is_of_run) counted.kept += 1;
      else counted.count += 1;
    }
    const last = ids.at(-1);
    if (last === undefined) return counted;
    counted.upToId = last;
    if (ids.length < idsAtOnce) return counted;
    rest = { ...filter, afterId: last };
  }
}

/** Deletes the results of a filter in the background if there are as many as the caller expects. Later results stay. */
async function startDeletion(
  services: DeletionServices,
  requester: Changer,
  { filter, expectedCount, userId }: { filter: SearchFilter; expectedCount: number; userId: string },
): Promise<ResultDeletionsTable> {
  // Before the count, by the clock of corrections: results that are corrected from now on stay.
  const createdAt = await readDatabaseClock(services.store.database);
  const { count, upToId } = await countDeletable(services, requester, filter);
  if (count !== expectedCount)
    throw conflict(
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
  await inTransaction(services.store, requester, async (transaction) => {
    await insertDeletion(transaction, row);
    const detail = { deletion: row.id, count };
    await recordChange(transaction, requester, "evaluation_result.delete", "many", detail);
  });
  services.deletions.schedule();
  return row;
}

function toDeletion(row: ResultDeletionsTable): EvaluationResultDeletion {
  return {
    id: row.id,
    status: row.finished_at === null ? "running" : "finished",
    count: row.matched,
    deleted: row.deleted,
    created_at: toIsoInstant(row.created_at),
    finished_at: isoInstantOrNull(row.finished_at),
  };
}
