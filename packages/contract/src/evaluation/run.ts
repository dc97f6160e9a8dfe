import { z } from "zod";
import { list } from "../custom-schemas.ts";
import { Params } from "../prediction/prediction.ts";
import { WorldReference } from "../prediction/through-world.ts";
import { pageQuery } from "../query.ts";
import {
  boolean,
  count,
  countOrNull,
  instant,
  shortText,
  storableText,
  string,
  stringOrNull,
} from "../text.ts";
import { DatasetChange } from "./dataset.ts";
import { EvaluatorReference } from "./evaluate.ts";
import { newTags } from "./result.ts";
import { PinnedEnds, RunEnds } from "./run-ends.ts";

/** The most predictions of each sample. */
export const maxRepeats = 20;
/** The most calls of a run at once. */
export const maxRunConcurrency = 256;
/** How many calls a run makes at once unless it says otherwise. */
export const defaultRunConcurrency = 16;
/** The most evaluators of a run. */
export const maxRunEvaluators = 20;

/** The most samples of a pilot. */
const maxDrawn = 1_000_000;

/** A revision of a dataset that a baseline learns from. */
const RevisionReference = z.strictObject({
  dataset_id: shortText(200).meta({ description: "The id of a dataset of the account." }),
  revision: z.int().min(1).nullish().meta({ description: "A number; the latest if not given." }),
});

/** What makes a run's predictions. */
export const RunTarget = z
  .union([
    z.strictObject({
      deployment: shortText(200).meta({ description: "A deployment, by its name." }),
      model: shortText(200).nullish().meta({ description: "Sent instead of the deployment's model." }),
    }),
    z.strictObject({
      world: WorldReference.meta({
        description:
          "A world, or one of its revisions as NAME@NUMBER; the latest when the run is made if no number is given. Each sample's own trajectory is left out of the examples.",
      }),
    }),
    z.strictObject({
      baseline: z.literal("no-change").meta({ description: "Predicts the state that it is given." }),
    }),
    z.strictObject({
      baseline: z.literal("most-frequent").meta({
        description: "Predicts the most common next state after the same action.",
      }),
      from: RevisionReference.nullish().meta({
        description:
          "Where the next states are counted. If not given, in the other trajectories of the same revision.",
      }),
    }),
    z.strictObject({
      baseline: z.literal("retrieval").meta({
        description:
          "Predicts the next state of the most similar sample of the other trajectories, with the words in which the actions differ carried over.",
      }),
    }),
    z.strictObject({
      predictions: z.literal("imported").meta({
        description: "The caller uploads the predictions, which are only evaluated.",
      }),
    }),
  ])
  .meta({ id: "RunTarget" });
export type RunTarget = z.infer<typeof RunTarget>;

/** The target of a run that a client makes, as an experiment: it sends the results. */
const ClientTarget = z.strictObject({
  external: z.literal(true).meta({ description: "A client evaluates and sends the results." }),
});

/** Whether each step is predicted from the recorded state, or from the prediction before. */
export const RunMode = z.enum(["teacher-forced", "free-running"]);
export type RunMode = z.infer<typeof RunMode>;

/** Where a run is; a run that is finished, cancelled or failed has ended. */
export const RunStatus = z.enum(["queued", "running", "paused", "finished", "cancelled", "failed"]);
export type RunStatus = z.infer<typeof RunStatus>;

const described = {
  mode: "`teacher-forced`: each step is told the recorded state. `free-running`: each step is told what was predicted for the previous step.",
  repeats: "How often each sample is predicted. Predictions of a run are never taken from the cache.",
  concurrency:
    "How many predictions may be in progress at once. A run starts with 4 and goes up to this while latency holds; a time-out or a rate limit halves it.",
};

/** Body of `POST /v1/runs`. */
export const RunCreateRequest = z
  .strictObject({
    name: shortText(200).nullish().meta({ description: "Several runs may have the same name." }),
    dataset_id: shortText(200).meta({ description: "The id of a dataset of the account." }),
    revision: z.int().min(1).nullish().meta({ description: "A number; the latest if not given." }),
    target: RunTarget.meta({ description: "What predicts." }),
    params: Params.nullish().meta({
      description: "Sampling and decoding. With a seed, repeat r of a sample is sent the seed plus r.",
    }),
    mode: RunMode.nullish().meta({ default: "teacher-forced", description: described.mode }),
    evaluators: list(EvaluatorReference).min(1).max(maxRunEvaluators).meta({
      description: "What judges the predictions, as in `POST /v1/evaluate`.",
    }),
    ends: RunEnds.nullish().meta({
      description:
        "How to tell that the episode ends with a prediction, and what its reward is. The report compares this with `done` and `reward` of the samples.",
    }),
    limit: z.int().min(1).max(maxDrawn).nullish().meta({
      description:
        "A pilot: only this many samples are predicted, if the revision has more. They are whole trajectories in an order that `draw_seed` decides, the last one up to the limit. It meets no goal, passes no gate and is not the latest figure of its target.",
    }),
    draw_seed: z.int().min(0).max(2_147_483_647).nullish().meta({
      default: 1,
      description: "Another seed draws other trajectories for `limit`.",
    }),
    repeats: z.int().min(1).max(maxRepeats).nullish().meta({ default: 1, description: described.repeats }),
    concurrency: z.int().min(1).max(maxRunConcurrency).nullish().meta({
      default: defaultRunConcurrency,
      description: described.concurrency,
    }),
    tags: newTags,
  })
  .meta({ id: "RunCreateRequest" });
export type RunCreateRequest = z.infer<typeof RunCreateRequest>;

/** Body of `POST /v1/runs/{id}/evaluators`. */
export const RunEvaluatorsRequest = z
  .strictObject({
    evaluators: list(EvaluatorReference).min(1).max(maxRunEvaluators).meta({
      description:
        "What else judges the predictions, or tries its failed verdicts again. No prediction is made again.",
    }),
  })
  .meta({ id: "RunEvaluatorsRequest" });

/** An evaluator of a run. */
export const RunEvaluator = z
  .object({
    evaluator: string("The evaluator's id."),
    profile_name: string("The profile's name."),
    profile_id: z.uuid().meta({ description: "The profile's id." }),
    profile_revision: count("The revision that the run uses."),
  })
  .meta({ id: "RunEvaluator" });
export type RunEvaluator = z.infer<typeof RunEvaluator>;

/** An evaluator of a run, including runs whose results a client sends. */
export const ReportEvaluator = z
  .object({
    evaluator: RunEvaluator.shape.evaluator,
    profile_name: stringOrNull("The profile's name. Null if a client's own evaluator has none."),
    profile_id: z.uuid().nullable().meta({
      description: "The profile's id. Null if a client's own evaluator judged.",
    }),
    profile_revision: countOrNull("The revision that judged. Null if a client's own evaluator did."),
  })
  .meta({ id: "ReportEvaluator" });
export type ReportEvaluator = z.infer<typeof ReportEvaluator>;

/** How far a run is, and what is missing from it. */
export const RunProgress = z
  .object({
    samples: count("Samples times repeats."),
    predicted: count("How many of them have a prediction."),
    evaluated: count(
      "How many are done: every evaluator has returned, or none will because there is no prediction.",
    ),
    failed: count(
      "How many of these have no prediction, or no verdict of some evaluator: `failed_predictions` plus `without_verdict`.",
    ),
    failed_predictions: count("How many predictions failed, after all tries."),
    without_verdict: count("How many predictions were made, but have no verdict of some evaluator."),
    answers: z
      .object({
        truncated: count("Answers that the token limit cut off (finish reason `length`)."),
        empty: count("Answers with nothing but white space."),
        repaired: count("Verdicts on answers that `json-match` had to repair."),
      })
      .nullable()
      .meta({
        id: "RunAnswers",
        description:
          "Answers that were cut off, empty or repaired. Null for external and older runs, which do not count them.",
      }),
    tries: z
      .object({
        retried: z.record(z.string(), z.int()).meta({
          description: "Calls that failed and were tried again, by category as in errors.",
        }),
        timed_out: count("Calls that timed out, whether they were tried again or not."),
        at_once: z.int().optional().meta({
          description:
            "About how many calls at once the deployment answers: with more they timed out, so that the run makes fewer than its `concurrency`. Absent if that is not needed.",
        }),
      })
      .nullable()
      .meta({
        id: "RunTries",
        description:
          "Failed calls, most of which succeeded when tried again; at most two seconds old. Null if they were not counted.",
      }),
  })
  .meta({ id: "RunProgress" });
export type RunProgress = z.infer<typeof RunProgress>;

/** Which samples a pilot predicts. */
export const RunDraw = z
  .object({
    samples: count("How many samples were drawn, in whole trajectories except the last."),
    of: count("How many the revision has."),
    seed: count("What decided the draw: the same revision, number and seed draw the same."),
  })
  .meta({ id: "RunDraw" });
export type RunDraw = z.infer<typeof RunDraw>;

/** What a run was made with. */
export const RunProvenance = z
  .object({
    presage_version: string("The version of Presage."),
    prompt_version: stringOrNull("The version of the composed prompt. Null if the target is external."),
    dataset_digest: stringOrNull("The digest of the dataset's revision."),
    change: DatasetChange.optional().meta({ description: "What counts as a change, as its dataset says." }),
    ends: PinnedEnds.optional().meta({ description: "How the run tells that an episode ends, if it does." }),
    models: z.array(z.string()).meta({
      description: "The model, as the upstream named it. More than one if it changed during the run.",
    }),
    finished_early: z.boolean().optional().meta({
      description: "True if it was finished while predictions were missing.",
    }),
    draw: RunDraw.optional().meta({
      description: "For a pilot, which samples it predicts. Absent if it predicts all.",
    }),
    in_sample: boolean("Whether a baseline learnt from the revision that it predicts."),
    leaky: z.literal(true).optional().meta({
      description:
        "True if the world was calibrated on samples of the dataset that it predicts. Such a run passes no gate.",
    }),
  })
  .meta({ id: "RunProvenance" });
export type RunProvenance = z.infer<typeof RunProvenance>;

/** Predictions for the samples of a dataset, with their verdicts. */
export const Run = z
  .object({
    id: z.uuid().meta({ description: "Results name it in evaluation_run_id." }),
    name: string("Several runs may have the same name."),
    status: RunStatus.meta({ description: "Whether it is running, and how it ended." }),
    status_reason: stringOrNull("Why it waits or failed."),
    progress: RunProgress.meta({
      description:
        "How far it is. For an external run: `samples` and `predicted` are the results of the evaluator with the most, `evaluated` those of the one with the fewest, `failed` the most of any that have no verdict.",
    }),
    dataset_id: z.uuid().nullable().meta({ description: "Null if the target is external." }),
    revision: countOrNull("The dataset's revision."),
    target: RunTarget.or(ClientTarget).meta({ description: "What predicts." }),
    params: z.record(z.string(), z.unknown()).nullable().meta({ description: "As given." }),
    mode: RunMode.meta({ description: described.mode }),
    evaluators: z.array(ReportEvaluator).meta({
      description:
        "In the order in which they were given. For an external run, those of its results, by name.",
    }),
    repeats: z.int().meta({ description: described.repeats }),
    concurrency: z.int().meta({ description: described.concurrency }),
    tags: z.record(z.string(), z.string()).nullable().meta({ description: "Texts by name, as given." }),
    provenance: RunProvenance.meta({ description: "What it was made with." }),
    notes: z.array(z.string()).meta({
      description: "What happened along the way, for example what it waited for.",
    }),
    created_by: z.uuid().meta({ description: "The id of the user who created it." }),
    created_at: instant.meta({ description: "When it was created." }),
    started_at: instant.nullable().meta({ description: "When its first prediction started." }),
    finished_at: instant.nullable().meta({ description: "When it ended." }),
  })
  .meta({ id: "Run" });
export type Run = z.infer<typeof Run>;

/** Path of `/v1/runs/{id}`. */
export const RunPath = z.object({
  id: storableText().meta({
    description: "The run's id.",
    examples: ["019aa5f6-7d10-7000-8c3e-0b6f5a2d9c41"],
  }),
});

/** Query of `GET /v1/runs`. */
export const RunListQuery = z.object({
  dataset_id: storableText().optional().meta({ description: "Only runs of this dataset." }),
  status: RunStatus.optional().meta({ description: "Only runs with this status." }),
  name: storableText().optional().meta({ description: "Only runs of this name." }),
  ...pageQuery(),
});
export type RunListQuery = z.infer<typeof RunListQuery>;
