import {
  EvaluationResultDeleteQuery,
  type EvaluationResultDeletion,
  type EvaluationResultDeletionCount,
  EvaluationResultDeletionPath,
  EvaluationResultPath,
  isTrueWord,
  readResultId,
} from "@presage/contract";
import { deleteResult } from "../../../evaluation/results/delete/delete-result.ts";
import {
  countDeletable,
  findDeletion,
  startDeletion,
} from "../../../evaluation/results/delete/start-deletion.ts";
import { toIsoInstant } from "../../../storage/micros.ts";
import type { ResultDeletionsTable } from "../../../storage/schema/deletion.ts";
import { keepOpen } from "../../pipeline/keep-open.ts";
import { type Route, withCaller } from "../../pipeline/route.ts";
import { missing } from "../../request/pydantic-issues.ts";
import { readKnownQuery, readPath } from "../../request/read-request.ts";
import { requesterOf } from "../../request/requester-of.ts";
import { InvalidRequestError } from "../../request/validate.ts";
import type { Services } from "../../services.ts";
import { readExportQuery, readSearchFilter } from "./read-result-filter.ts";

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
