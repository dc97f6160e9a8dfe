import {
  EvaluationResultDeleteQuery,
  type EvaluationResultDeletion,
  type EvaluationResultDeletionCount,
  EvaluationResultDeletionPath,
  EvaluationResultPath,
  isTrueWord,
  readResultId,
} from "@presage/contract";
import type { Services } from "../../app/services.ts";
import { keepOpen } from "../../http/keep-open.ts";
import { missing } from "../../http/pydantic-issues.ts";
import { readKnownQuery, readPath } from "../../http/read-request.ts";
import { requesterOf } from "../../http/requester-of.ts";
import { type Route, withCaller } from "../../http/route.ts";
import { InvalidRequestError } from "../../http/validate.ts";
import { toIsoInstant } from "../../platform/storage/micros.ts";
import type { ResultDeletionsTable } from "../../platform/storage/schema/deletion.ts";
import { readExportQuery, readSearchFilter } from "../search/read-result-filter.ts";
import { deleteResult } from "./delete-result.ts";
import { countDeletable, findDeletion, startDeletion } from "./start-deletion.ts";

const path = "/v1/evaluation-results";

export function resultDeletionRoutes({ evaluation }: Services): Route[] {
  return [
    withCaller("DELETE", path, "manage", async (call) => {
      const query = readKnownQuery(call, EvaluationResultDeleteQuery);
      const { dry_run, expected_count: expected, ...filters } = query;
      const isDryRun = dry_run !== undefined && isTrueWord(dry_run);
      if (!isDryRun && expected === undefined)
        throw new InvalidRequestError([missing(["query", "expected_count"], query)]);
      keepOpen(call);
      const filter = await readSearchFilter(evaluation, call, readExportQuery(filters).filter);
      const requester = requesterOf(call);
      if (isDryRun) {
        const { count, kept } = await countDeletable(evaluation, requester, filter);
        return Response.json({ count, kept } satisfies EvaluationResultDeletionCount);
      }
      const wanted = { filter, expectedCount: Number(expected), userId: call.caller.userId };
      const deletion = await startDeletion(evaluation, requester, wanted);
      return Response.json(toDeletion(deletion), { status: 202 });
    }),
    withCaller("GET", "/v1/evaluation-result-deletions/:id", "read", async (call) => {
      const { id } = readPath(call, EvaluationResultDeletionPath);
      return Response.json(toDeletion(await findDeletion(evaluation, requesterOf(call), id.toLowerCase())));
    }),
    withCaller("DELETE", `${path}/:id`, "manage", async (call) => {
      const { id } = readPath(call, EvaluationResultPath);
      await deleteResult(evaluation, requesterOf(call), readResultId(id));
      return new Response(null, { status: 204 });
    }),
  ];
}

function toDeletion(row: ResultDeletionsTable): EvaluationResultDeletion {
  return {
    id: row.id,
    status: row.finished_at === null ? "running" : "finished",
    count: Number(row.matched),
    deleted: Number(row.deleted),
    created_at: toIsoInstant(row.created_at),
    finished_at: row.finished_at === null ? null : toIsoInstant(row.finished_at),
  };
}
