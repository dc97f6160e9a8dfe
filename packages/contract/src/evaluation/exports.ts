import { z } from "zod";
import { EpisodeListQuery } from "../environments/episode.ts";
import { StoredPredictionCountQuery } from "../prediction/stored-prediction.ts";
import { queryBoolean, queryInteger, queryNumber } from "../query.ts";
import { storableText } from "../text.ts";

/** What trajectories can be exported as. */
export const ExportFormat = z.enum(["presage", "atif", "otel-genai", "sft", "sharegpt", "openai-chat"]);
export type ExportFormat = z.infer<typeof ExportFormat>;

/** What a run can be exported as. */
export const RunExportFormat = z.enum([...ExportFormat.options, "preference", "inspect"]);

const content = queryBoolean().optional().meta({
  default: false,
  description: "For `otel-genai`: whether to include the texts.",
});
const redact = z.enum(["default", "strict", "none"]).optional().meta({
  description:
    "What happens to secrets, as in an import. If not given, `default`, but `none` for `presage`, whose lines are the dataset's.",
});

/** How trajectories are written. */
const writing = {
  version: z.enum(["1.7", "1.8"]).optional().meta({ default: "1.7", description: "The version of `atif`." }),
  content,
  direction: z.enum(["world", "agent"]).optional().meta({
    default: "world",
    description:
      "For `sft`: whose turns are the assistant's, the environment's or the agent's. What follows an abstention is left out.",
  }),
  only: z.enum(["success"]).optional().meta({
    description:
      "For `sft`: only trajectories whose outcome is success; without an outcome, those whose last reward is above 0. For a run, only those in which every prediction passes.",
  }),
  min_reward: queryNumber()
    .optional()
    .meta({ description: "For `sft`: only trajectories whose last reward is at least this." }),
  loss: queryBoolean().optional().meta({
    default: false,
    description: "For `sft`: each message says in `loss` whether it is trained on.",
  }),
  redact,
};

const ofPredicted = RunExportFormat.exclude(["presage", "inspect"]).options;
/** The formats that an option applies to. With other formats it would have no effect, so it is refused. */
export const formatsOfOption: Readonly<Record<string, readonly string[]>> = {
  version: ["atif"],
  content: ["otel-genai"],
  direction: ["sft"],
  only: ["sft"],
  min_reward: ["sft"],
  loss: ["sft"],
  evaluator: ofPredicted,
  profile_name: ofPredicted,
  against: ["preference"],
  margin: ["preference"],
  per_sample: ["preference"],
  chosen: ["preference"],
};

/** Query of `GET /v1/datasets/{id}/export`. */
export const DatasetExportQuery = z.object({
  revision: queryInteger({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })
    .optional()
    .meta({ description: "The number of a revision; the latest if not given." }),
  format: ExportFormat.optional().meta({
    default: "presage",
    description: "What is written. `presage`: the revision's lines, whose SHA-256 is its digest.",
  }),
  ...writing,
});
export type DatasetExportQuery = z.infer<typeof DatasetExportQuery>;

/** Query of `GET /v1/runs/{id}/export`. */
export const RunExportQuery = z.object({
  format: RunExportFormat.optional().meta({
    default: "presage",
    description:
      "What is written. `presage`: predictions with their verdicts. `preference`: pairs of predictions. `inspect`: a log of Inspect. Others: trajectories with the predictions in place of the environment's answers.",
  }),
  evaluator: storableText().optional().meta({
    description:
      "The evaluator whose scores are the rewards, or tell chosen from rejected; the run's first if not given.",
  }),
  profile_name: storableText()
    .optional()
    .meta({ description: "The evaluator's profile, if the run has the evaluator more than once." }),
  against: storableText().optional().meta({
    description: "For `preference`: a run of the same revision whose predictions are compared as well.",
  }),
  margin: queryNumber().optional().meta({
    default: 0.1,
    description: "For `preference`: how much higher the chosen one has to score, at least.",
  }),
  per_sample: queryInteger({ minimum: 1, maximum: 100 })
    .optional()
    .meta({ default: 1, description: "For `preference`: at most this many pairs for each sample." }),
  chosen: z.enum(["prediction", "reference"]).optional().meta({
    default: "prediction",
    description:
      "For `preference`: with `reference`, the chosen one is the environment's answer, which scores 1.",
  }),
  ...writing,
});
export type RunExportQuery = z.infer<typeof RunExportQuery>;

const { limit: _, after: __, ...whichEpisodes } = EpisodeListQuery.shape;

/** Query of `GET /v1/episodes/export`. */
export const EpisodeExportQuery = z.object({
  ...whichEpisodes,
  format: ExportFormat.optional().meta({
    default: "presage",
    description: "What is written. `presage`: the lines of a dataset of these episodes.",
  }),
  ...writing,
});
export type EpisodeExportQuery = z.infer<typeof EpisodeExportQuery>;

/** Query of `GET /v1/predictions/export`. */
export const PredictionExportQuery = z.object({
  ...StoredPredictionCountQuery.shape,
  format: z.enum(["otel-genai"]).optional().meta({ default: "otel-genai", description: "What is written." }),
  content,
  redact,
});
export type PredictionExportQuery = z.infer<typeof PredictionExportQuery>;
