import { z } from "zod";
import { queryBoolean, queryInteger } from "../query.ts";
import { storableText } from "../text.ts";
import { EvaluationResultExportQuery } from "./evaluation-search.ts";

/**
 * Query of `DELETE /v1/evaluation-results`: the search's filters, and how many results are expected to match. `has_run` is not among
 * them: a process of the version before, which may continue a deletion, would ignore it and delete more.
 */
export const EvaluationResultDeleteQuery = EvaluationResultExportQuery.omit({
  order: true,
  format: true,
  has_run: true,
})
  .extend({
    dry_run: queryBoolean()
      .optional()
      .meta({ default: false, description: "Only count what would be deleted; delete nothing." }),
    expected_count: queryInteger({ minimum: 0 }).optional().meta({
      description:
        "The `count` of the same request with dry_run. Required to delete: if another number of results matches by then, nothing is deleted.",
    }),
  })
  .meta({ id: "EvaluationResultDeleteQuery" });
export type EvaluationResultDeleteQuery = z.infer<typeof EvaluationResultDeleteQuery>;

/** What `DELETE /v1/evaluation-results` would delete. */
export const EvaluationResultDeletionCount = z
  .object({
    count: z.int().meta({ description: "How many results would be deleted." }),
    kept: z.int().meta({
      description: "How many results match as well and stay, because a run or an experiment has them.",
    }),
  })
  .meta({ id: "EvaluationResultDeletionCount" });
export type EvaluationResultDeletionCount = z.infer<typeof EvaluationResultDeletionCount>;

/** A deletion of results, which continues in the background and survives a restart of the server. */
export const EvaluationResultDeletion = z
  .object({
    id: z.uuid().meta({ description: "The deletion's id." }),
    status: z.enum(["running", "finished"]).meta({ description: "Whether results are still being deleted." }),
    count: z.int().meta({ description: "How many results matched at the request." }),
    deleted: z.int().meta({ description: "How many are deleted." }),
    created_at: z.iso.datetime().meta({ description: "When it was requested." }),
    finished_at: z.iso.datetime().nullable().meta({ description: "When it ended; null if it is running." }),
  })
  .meta({ id: "EvaluationResultDeletion" });
export type EvaluationResultDeletion = z.infer<typeof EvaluationResultDeletion>;

export const EvaluationResultDeletionPath = z.object({
  id: storableText().meta({
    description: "The deletion's id.",
    examples: ["019aa5f6-7d10-7000-8c3e-0b6f5a2d9c41"],
  }),
});
