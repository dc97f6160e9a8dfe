import {
  EvaluationResultDeleteQuery,
  EvaluationResultDeletion,
  EvaluationResultDeletionCount,
  EvaluationResultDeletionPath,
  EvaluationResultPath,
} from "@presage/contract";
import type { ZodOpenApiPathsObject } from "zod-openapi";
import {
  errorResponse,
  noSuch,
  operation,
  operationWithOldNames,
  query,
  response,
} from "../../http/describe.ts";

const tag = "evaluation results";

const exampleDeletion: EvaluationResultDeletion = {
  id: "019aa5f6-7d10-7000-8c3e-0b6f5a2d9c41",
  status: "running",
  count: 41_200,
  deleted: 0,
  created_at: "2026-11-22T03:46:48.009Z",
  finished_at: null,
};

export const deleteResultOperation = operation("deleteEvaluationResult", tag, "Delete a result", {
  description:
    "Deletes one result with its texts and corrections; summaries no longer count it. A result of a run or an experiment stays as long as that does.",
  requestParams: { path: EvaluationResultPath },
  responses: {
    "204": { description: "Deleted" },
    ...noSuch("result", "evaluation result"),
    "409": errorResponse(
      "The result belongs to a run",
      "This result belongs to a run or an experiment, whose figures it is part of. Delete the run first.",
    ),
  },
});

export const resultDeletionPaths: ZodOpenApiPathsObject = {
  "/v1/evaluation-results": {
    delete: operationWithOldNames("deleteEvaluationResults", tag, "Delete the results of a search", {
      description:
        "Deletes all results that match the filters, which are those of the search. First count them with `dry_run=true`, then send that number as `expected_count`. Deletion continues in the background, even after a restart of the server; results stored later stay. Results of runs and experiments stay as long as these do.",
      requestParams: { query: query(EvaluationResultDeleteQuery) },
      responses: {
        "200": response("With dry_run: how many results would be deleted", EvaluationResultDeletionCount, {
          count: 41_200,
          kept: 300,
        }),
        "202": response(
          "The deletion, which continues in the background",
          EvaluationResultDeletion,
          exampleDeletion,
        ),
        "409": errorResponse(
          "Another number of results matches",
          "41201 results match by now, not 41200. Nothing was deleted. Ask for the count again.",
        ),
      },
    }),
  },
  "/v1/evaluation-result-deletions/{id}": {
    get: operation("getEvaluationResultDeletion", tag, "Show a deletion of results", {
      description: "Shows how far a deletion of results is. It can be read for 30 days after its end.",
      requestParams: { path: EvaluationResultDeletionPath },
      responses: {
        "200": response("The deletion", EvaluationResultDeletion, {
          ...exampleDeletion,
          status: "finished",
          deleted: 41_200,
          finished_at: "2026-11-22T03:47:30.512Z",
        }),
        ...noSuch("deletion", "deletion of results"),
      },
    }),
  },
};
