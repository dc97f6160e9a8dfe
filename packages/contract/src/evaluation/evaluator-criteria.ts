import { z } from "zod";
import { EvaluatorProfile } from "./evaluator-profile.ts";

/** Response of creating and revising a profile under `/v1/evaluator-criteria`. */
export const EvaluatorCriteriaResponse = z
  .object({ evaluator_criteria: EvaluatorProfile.meta({ description: "The revision." }) })
  .meta({ id: "EvaluatorCriteriaResponse" });
export type EvaluatorCriteriaResponse = z.infer<typeof EvaluatorCriteriaResponse>;

/** Response of listing and archiving profiles under `/v1/evaluator-criteria`. */
export const EvaluatorCriteriaListResponse = z
  .object({
    evaluator_criteria: z.array(EvaluatorProfile).meta({ description: "The revisions of profiles." }),
  })
  .meta({ id: "EvaluatorCriteriaListResponse" });
export type EvaluatorCriteriaListResponse = z.infer<typeof EvaluatorCriteriaListResponse>;
