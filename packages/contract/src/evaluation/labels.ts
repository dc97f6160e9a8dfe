import { z } from "zod";
import { listOf, pageQuery, queryInteger } from "../query.ts";
import { intervalOf } from "../responses.ts";
import {
  boolean,
  count,
  countOrNull,
  figure,
  instant,
  number,
  shortText,
  storableText,
  string,
  stringOrNull,
} from "../text.ts";
import { Correction, EvaluationLabel, LabelVerdict, score } from "./result.ts";
import { EvaluationResultFilter } from "./result-search.ts";

/** Body of `POST /v1/evaluation-results/{id}/labels`. */
export const LabelRequest = z
  .strictObject({
    label: LabelVerdict.nullable().meta({
      description: "The person's own verdict, whatever the evaluator's is. Null takes the label back.",
    }),
    score: score.nullish().meta({ description: "The person's score, from 0 to 1." }),
    annotator: shortText(200).nullish().meta({
      description: "Who labels. If not given, the caller's user, who may also correct the verdict.",
    }),
  })
  .meta({ id: "LabelRequest" });
export type LabelRequest = z.infer<typeof LabelRequest>;

/** Response of `GET` and `POST /v1/evaluation-results/{id}/labels`. */
export const LabelListResponse = z
  .object({
    data: z.array(EvaluationLabel).meta({ description: "One for each person, oldest first." }),
    correction: Correction.nullable().meta({
      description: "The correction that counts, which a label that disagrees may have set.",
    }),
  })
  .meta({ id: "LabelListResponse" });
export type LabelListResponse = z.infer<typeof LabelListResponse>;

/** A line of `POST /v1/evaluation-labels`: the result by its id, or by its run and sample. */
export const LabelLine = z
  .strictObject({
    ...LabelRequest.shape,
    label: z
      .enum([...LabelVerdict.options, ""])
      .nullable()
      .meta({
        description:
          "The person's verdict on the output. Null takes the label back; an empty text means that there is none yet, and changes nothing.",
      }),
    result_id: z
      .union([z.int().nonnegative(), z.string().regex(/^\d{1,15}$/)])
      .optional()
      .meta({ description: "The result's id." }),
    run_id: storableText()
      .optional()
      .meta({ description: "With `dataset_sample_id`, instead of `result_id`." }),
    dataset_sample_id: z
      .union([z.int(), shortText(200)])
      .optional()
      .meta({
        description: "Its results of all evaluators get the label, unless `evaluator` names one.",
      }),
    evaluator: storableText().optional().meta({ description: "An evaluator's id or family." }),
    texts: z.record(z.string(), z.unknown()).optional().meta({
      description: "What the person read, as `presage label --draw` prints it. It is not stored.",
    }),
  })
  .check(({ value, issues }) => {
    const bySample = value.run_id !== undefined && value.dataset_sample_id !== undefined;
    const isPart = value.run_id !== undefined || value.dataset_sample_id !== undefined;
    if (value.result_id === undefined ? bySample : !isPart) return;
    issues.push({
      code: "custom",
      message: "A line names its result by `result_id`, or by `run_id` and `dataset_sample_id`",
      input: value,
    });
  })
  .meta({ id: "LabelLine" });
export type LabelLine = z.infer<typeof LabelLine>;

/** Response of `POST /v1/evaluation-labels`. */
export const LabelImport = z
  .object({
    labels: count("Labels that were stored."),
    taken_back: count("Labels that lines with null took back."),
  })
  .meta({ id: "LabelImport" });
export type LabelImport = z.infer<typeof LabelImport>;

const namedEvaluator = {
  evaluator: storableText().optional().meta({
    description: "An evaluator by its id, its family or as `external:NAME`. If not given, the run's first.",
  }),
  profile_name: storableText().optional().meta({
    description: "The evaluator's profile, where there are several of the same evaluator.",
  }),
};

/** Body of `POST /v1/runs/{id}/label-sample`. */
export const LabelSampleRequest = z
  .strictObject({
    size: z.int().min(1).max(1_000).meta({ description: "How many verdicts to draw." }),
    seed: z.int().min(0).max(2_147_483_647).default(1).meta({ description: "Another seed draws others." }),
    by: z.enum(["uniform", "verdict"]).default("uniform").meta({
      description:
        "`uniform`: all verdicts are equally likely. `verdict`: half are passes and half are fails, as far as there are enough.",
    }),
    ...namedEvaluator,
  })
  .meta({ id: "LabelSampleRequest" });
export type LabelSampleRequest = z.input<typeof LabelSampleRequest>;

/** Verdicts that were drawn to be labelled. */
export const LabelSample = z
  .object({
    id: string("The draw's id."),
    run_id: string("The run's id."),
    evaluator: string("Whose verdicts they are."),
    profile_name: stringOrNull("The evaluator's profile."),
    by: z.enum(["uniform", "verdict"]).meta({ description: "How they were drawn." }),
    seed: count("What decided the draw."),
    drawn_from: count("Verdicts that could be drawn."),
    left_out: count("Verdicts that could not: their output equals the gold answer."),
    created_at: instant.meta({ description: "When they were drawn." }),
    data: z
      .array(
        z.object({
          result_id: string("The result's id."),
          probability: number(
            "The probability with which it was drawn. Its label has the inverse as its weight.",
          ),
          labelled: boolean("Whether anybody has labelled it."),
        }),
      )
      .meta({ description: "In the order in which they were drawn." }),
  })
  .meta({ id: "LabelSample" });
export type LabelSample = z.infer<typeof LabelSample>;

/** The most draws on a page; each comes with all its verdicts. */
export const maxLabelSamples = 100;

/** Query of `GET /v1/runs/{id}/label-samples`. */
export const LabelSampleListQuery = z.object(
  pageQuery({ maximum: maxLabelSamples, default: maxLabelSamples }),
);

/** Response of `GET /v1/runs/{id}/label-samples`. */
export const LabelSampleListResponse = listOf("LabelSampleListResponse", LabelSample, "The newest first.");

/** Query of `GET /v1/agreement`. */
export const AgreementOfLabelsQuery = z.object({
  run: storableText().optional().meta({
    description:
      "The run's id. If not given, all labelled verdicts of `evaluator` count, or else of the one with the most labels.",
  }),
  ...namedEvaluator,
  profile_id: storableText().optional().meta({
    description: "The profile's public id: verdicts of other profiles with the same name do not count.",
  }),
  profile_revision: queryInteger({ minimum: 1, maximum: 2_147_483_647 }).optional().meta({
    description: "The profile's revision: verdicts of other revisions do not count.",
  }),
  against: z.enum(["human", "evaluator"]).optional().meta({
    default: "human",
    description: "People's labels, or the verdicts of the run's evaluator `other`.",
  }),
  other: storableText().optional().meta({
    description: "With `against=evaluator`: the other evaluator. If not given, the run's next.",
  }),
  other_profile_name: storableText().optional().meta({ description: "The other evaluator's profile." }),
});
export type AgreementOfLabelsQuery = z.infer<typeof AgreementOfLabelsQuery>;

const AgreementFigure = z
  .object({
    value: figure("Null if it is not defined."),
    interval: intervalOf("At 95 %. Null with the reason in `note`."),
    count: count("Verdicts that it is computed from."),
    trajectories: count("Their trajectories."),
    effective_trajectories: figure(
      "The number of equally long trajectories that would carry as much information.",
    ),
    note: stringOrNull("Why there is no value, or no interval."),
  })
  .meta({ id: "AgreementFigure" });

/** Response of `GET /v1/agreement`. */
export const LabelAgreement = z
  .object({
    run_id: stringOrNull("The run's id; null for all verdicts of the evaluator."),
    evaluator: stringOrNull(
      "Whose verdicts are compared; null if no run is given and nobody has labelled anything.",
    ),
    profile_name: stringOrNull("The evaluator's profile."),
    against: string("`human`, or the other evaluator."),
    sentence: string("What the figures say."),
    note: stringOrNull("What qualifies them."),
    weighted: boolean(
      "Whether only drawn verdicts count, each with the inverse of the probability of its draw.",
    ),
    counts: z
      .object({
        both_pass: count("Both pass."),
        only_evaluator: count("The evaluator passes, the reference does not."),
        only_reference: count("The reference passes, the evaluator does not."),
        both_fail: count("Neither passes."),
      })
      .meta({ description: "Verdicts by what both say, without weights." }),
    undecided: count(
      "Labelled verdicts that as many people pass as fail; they count in `krippendorff_alpha` only.",
    ),
    agreement: AgreementFigure.meta({ description: "The share on which both say the same." }),
    cohen_kappa: AgreementFigure.meta({
      description: "Agreement beyond chance, where chance knows how often each passes. From −1 to 1.",
    }),
    gwet_ac1: AgreementFigure.meta({
      description: "Agreement beyond chance that does not fall where almost all pass. From −1 to 1.",
    }),
    krippendorff_alpha: AgreementFigure.meta({
      description: "Agreement among the evaluator and all people; not everybody has to label everything.",
    }),
    people_alpha: AgreementFigure.meta({
      description:
        "Agreement among people. An evaluator can hardly agree with them more than they do with each other.",
    }),
    sensitivity: AgreementFigure.meta({
      description: "The share of what the reference passes that the evaluator passes.",
    }),
    specificity: AgreementFigure.meta({
      description: "The share of what the reference fails that the evaluator fails.",
    }),
    precision: AgreementFigure.meta({
      description: "The share of what the evaluator passes that the reference passes.",
    }),
    more_labels: z
      .object({
        half_width: number("Half of the width of the interval of `agreement` to aim at."),
        count: countOrNull("How many more labels it takes; null if it is narrower than 2 points either way."),
      })
      .meta({ description: "What more labels would bring." }),
    annotators: z
      .array(
        z.object({
          annotator: string("The person's name."),
          labels: count("Labels given."),
          agreed: count("Those that equal the evaluator's verdict."),
        }),
      )
      .meta({ description: "The people." }),
  })
  .meta({ id: "LabelAgreement" });
export type LabelAgreement = z.infer<typeof LabelAgreement>;

const defaultQueueLimit = 50;
const maxQueueLimit = 200;
/** How many disagreements are listed unless the query says otherwise. */
export const defaultDisagreements = 50;

/** Body of `POST /v1/evaluation-results/review`: the search's filters, and which results come first. */
export const ReviewQueueRequest = EvaluationResultFilter.extend({
  order: z.enum(["least-certain", "random"]).nullish().meta({
    default: "least-certain",
    description:
      "`least-certain`: evaluators or repeats that disagree, then scores near their threshold, then models' verdicts before rules'; outputs that equal their gold answers are left out, and those of baselines unless a run is named. `random`: all, in an order that `seed` decides.",
  }),
  seed: z.int().min(0).max(2_147_483_647).nullish().meta({
    default: 1,
    description: "Another seed gives another order where nothing else decides it.",
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
    id: string("The result's id."),
    reason: ReviewReason.meta({
      description:
        "Why it is in this place. `near-threshold`: its score is within 0.1 of its threshold. `drawn`: for none of the other reasons.",
    }),
    distance: figure(
      "The distance from its score to the threshold that its profile's revision sets, both from 0 to 1. Null unless it is near: evaluators such as `exact-match` and imported ones have no threshold, and a full score is near none.",
    ),
    evaluators: bothSides("Evaluators").meta({
      description:
        "The evaluators of its run by their verdict on its sample, if they disagree. One result stands for all results of the sample.",
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
    has_more: boolean(
      "Whether more match. A random queue is then drawn from all of them; the least certain are those nearest to their threshold among all, and those that disagree among the newest 5,000 and as many that were drawn.",
    ),
    reviewed: count("How many of those that were read have been corrected or labelled."),
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

/** A result whose verdict a person has reversed. */
export const Disagreement = z
  .object({
    result_id: string("The result's id."),
    evaluator_id: string("The evaluator that gave the verdict."),
    revision: countOrNull("The profile's revision that it was made with."),
    pass: boolean("The evaluator's verdict."),
    score_raw: figure("The evaluator's score, from 0 to 1."),
    created_at: instant.meta({ description: "When the result was stored." }),
    correction: Correction.meta({ description: "The person's verdict." }),
    output: stringOrNull("The first 300 characters of the output."),
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
