import { z } from "zod";
import { queryInteger } from "../query.ts";
import { count, instant } from "../text.ts";
import { Correction } from "./result.ts";
import { EvaluationResultFilter } from "./result-search.ts";

const defaultQueueLimit = 50;
const maxQueueLimit = 200;
/** How many disagreements are listed unless the query says so. */
export const defaultDisagreements = 50;

/** Body of `POST /v1/evaluation-results/review`: the search's filters, and which results come first. */
export const ReviewQueueRequest = EvaluationResultFilter.extend({
  order: z.enum(["least-certain", "random"]).nullish().meta({
    default: "least-certain",
    description:
      "`least-certain`: evaluators or repeats that disagree, then scores near their threshold, then models' verdicts before rules'; outputs that equal their gold answers are left out. `random`: all, in an order that `seed` decides.",
  }),
  seed: z.int().min(0).max(2_147_483_647).nullish().meta({
    default: 1,
    description: "Another one gives another order where nothing else decides it.",
  }),
  limit: z.int().min(1).max(maxQueueLimit).nullish().meta({
    default: defaultQueueLimit,
    description: "Maximum number of results.",
  }),
})
  .strict()
  .meta({ id: "ReviewQueueRequest" });
export type ReviewQueueRequest = z.infer<typeof ReviewQueueRequest>;

/** Why a person should review a result. */
export const ReviewReason = z.enum([
  "evaluators-disagree",
  "repeats-disagree",
  "near-threshold",
  "model-judged",
  "drawn",
]);
export type ReviewReason = z.infer<typeof ReviewReason>;

const bothSides = (of: string) =>
  z.object({ passed: count(`${of} that passed.`), not_passed: count(`${of} that did not.`) }).nullable();

/** A result that no one has corrected or labelled. */
export const ReviewQueueItem = z
  .object({
    id: z.string().meta({ description: "The result's id." }),
    reason: ReviewReason.meta({
      description:
        "Why it is in this place. `near-threshold`: its score is within 0.1 of its threshold. `drawn`: none of the others.",
    }),
    distance: z.number().nullable().meta({
      description:
        "From its score to the threshold that its profile's revision sets, both from 0 to 1. Null unless it is near: evaluators such as `exact-match` and imported ones have no threshold, and a full score is near none.",
    }),
    evaluators: bothSides("Evaluators").meta({
      description:
        "The evaluators of its run by their verdict on its sample, if they disagree. One result stands for all of the sample.",
    }),
    repeats: bothSides("Repeats").meta({
      description: "The verdicts on the repeats of its sample in its run, if they disagree.",
    }),
  })
  .meta({ id: "ReviewQueueItem" });
export type ReviewQueueItem = z.infer<typeof ReviewQueueItem>;

/** Response of `POST /v1/evaluation-results/review`. */
export const ReviewQueueResponse = z
  .object({
    considered: count("How many matching verdicts were read and compared: all, up to 5,000."),
    has_more: z.boolean().meta({
      description:
        "Whether more match. A random queue is then drawn from all of them; the least certain are those nearest to their threshold among all, and those that disagree among the newest 5,000 and as many that were drawn.",
    }),
    reviewed: count("How many of those read people have corrected or labelled."),
    data: z.array(ReviewQueueItem).meta({ description: "What to look at, in this order." }),
  })
  .meta({ id: "ReviewQueueResponse" });
export type ReviewQueueResponse = z.infer<typeof ReviewQueueResponse>;

/** Query of `GET /v1/evaluator-profiles/{public_id}/disagreements`. */
export const DisagreementQuery = z.object({
  limit: queryInteger({ minimum: 1, maximum: 1000 })
    .optional()
    .meta({ default: defaultDisagreements, description: "Maximum number of results." }),
});

/** A result whose verdict a person has turned round. */
export const Disagreement = z
  .object({
    result_id: z.string().meta({ description: "The result's id." }),
    evaluator_id: z.string().meta({ description: "The evaluator that gave the verdict." }),
    revision: z.int().nullable().meta({ description: "The profile's revision that it was made with." }),
    pass: z.boolean().meta({ description: "The evaluator's verdict." }),
    score_raw: z.number().nullable().meta({ description: "The evaluator's score, from 0 to 1." }),
    created_at: instant.meta({ description: "When the result was stored." }),
    correction: Correction.meta({ description: "The person's verdict." }),
    output: z.string().nullable().meta({ description: "The first 300 characters of the output." }),
  })
  .meta({ id: "Disagreement" });
export type Disagreement = z.infer<typeof Disagreement>;

/** Response of `GET /v1/evaluator-profiles/{public_id}/disagreements`. */
export const DisagreementListResponse = z
  .object({
    data: z.array(Disagreement).meta({ description: "The latest corrections first." }),
  })
  .meta({ id: "DisagreementListResponse" });
export type DisagreementListResponse = z.infer<typeof DisagreementListResponse>;
