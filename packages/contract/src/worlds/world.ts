import { z } from "zod";
import { list } from "../custom-schemas.ts";
import { worldDefaults } from "../defaults.ts";
import { EpisodeReward } from "../environments/environment.ts";
import { Context, Interaction, Params, PromptMessage } from "../prediction/prediction.ts";
import {
  AnsweringWorld,
  ConfidenceMethod,
  exampleTags,
  WorldExplanation,
  worldRequestFields,
} from "../prediction/through-world.ts";
import { defaultRevisionLimit, listOf, numberedPageQuery, pageQuery } from "../query.ts";
import { boundedText, instant, maxDescriptionCharacters, shortText, storableText } from "../text.ts";
import { WorldCalibration } from "./world-calibration.ts";

/** A name is part of an address, and may be used where deployments' names are. */
const worldName = z
  .string()
  .regex(
    /^[a-z0-9][a-z0-9-]{0,62}$/,
    "Names have 1 to 63 lower-case letters, digits and hyphens, and do not begin with a hyphen",
  );

/** Which samples are examples, besides their split. */
const filterFields = {
  tags: exampleTags.nullish().meta({ description: "Only samples with these tags." }),
  exclude_errors: z.boolean().nullish().meta({
    default: false,
    description: "Leaves out samples with the tag `error=true`, which imports set where a tool failed.",
  }),
  max_per_trajectory: z.int().min(1).nullish().meta({
    description: "At most this many samples of each trajectory, the first ones.",
  }),
};
const order = z.enum(["revision"]);

/** Where a world's examples come from. */
export const WorldExamples = z
  .strictObject({
    dataset: shortText(200).meta({ description: "The name of a dataset of the account, or its id." }),
    revision: z.int().min(1).nullish().meta({
      description: "The number of its revision. If not given, the latest when the world's revision is made.",
    }),
    split: shortText(200).nullish().meta({
      description: "Only samples whose tag `split` is this. If not given, all but those of the split `test`.",
    }),
    ...filterFields,
    filter: z.strictObject(filterFields).nullish().meta({
      description:
        "The same three fields in their own object; its values take precedence. Responses show them without it.",
    }),
    order: order.nullish().meta({
      default: "revision",
      description: "Among equally similar examples, the first in the dataset's revision comes first.",
    }),
    required: z.boolean().nullish().meta({
      default: true,
      description:
        "Whether the world refuses to answer once the dataset is deleted, or answers without examples.",
    }),
  })
  .meta({ id: "WorldExamples" });

const weight = z.number().gte(0).lte(1_000).meta({ description: "The weight of its similarity." });

/** How examples are found and chosen. */
export const WorldRetrieval = z
  .strictObject({
    k: z.int().min(0).max(64).nullish().meta({ default: worldDefaults.k, description: "The most examples." }),
    max_chars: z.int().min(0).max(200_000).nullish().meta({
      default: worldDefaults.max_chars,
      description: "How many characters their texts may have in total. The first example always fits.",
    }),
    weights: z
      .strictObject({ action: weight, state: weight, task: weight })
      .refine(({ action, state, task }) => action + state + task > 0, "The weights' sum should be above 0")
      .nullish()
      .meta({
        default: worldDefaults.weights,
        description: "The weight of each field's similarity.",
      }),
    exclude_by: z
      .string()
      .regex(/^(trajectory|tag:[\s\S]{1,200})$/, "Input should be trajectory, or tag:NAME")
      .nullish()
      .meta({
        default: worldDefaults.exclude_by,
        description:
          "What is left out for a recorded sample: its own `trajectory`, or, with `tag:NAME`, also every example with its value of that tag.",
      }),
    place: z.enum(["turns", "system"]).nullish().meta({
      default: worldDefaults.place,
      description: "Where examples are placed: as turns before the last, or in a section of the system turn.",
    }),
    min_similarity: z.number().gte(0).lte(1).nullish().meta({
      default: worldDefaults.min_similarity,
      description: "Examples below this are left out.",
    }),
  })
  .meta({ id: "WorldRetrieval" });

/** What answers: a deployment's model, or the records alone. */
export const WorldModel = z
  .union([
    z.strictObject({
      kind: z.literal("retrieval").meta({ description: "No model is asked." }),
      answer: z.enum(["adapted", "nearest"]).nullish().meta({
        default: "adapted",
        description:
          "The recorded next state of the most similar example: as it is, or with the words in which the actions differ carried over.",
      }),
    }),
    z
      .strictObject({
        deployment: shortText(200)
          .nullish()
          .meta({ description: "Its name; the default deployment if not given." }),
        params: Params.nullish().meta({
          description:
            "Sampling and decoding. `temperature` is 0 unless it is given. A request's own fields take precedence.",
        }),
        fallback: z.enum(["retrieval"]).nullish().meta({
          description: "What answers if the deployment cannot be reached; the answer's `world` says so.",
        }),
      })
      // zod reports a branch that finds only unknown keys as if it were the only branch.
      .check((found) => {
        found.issues = found.issues.map((issue) => ({ ...issue, continue: false }));
      }),
  ])
  .meta({ id: "WorldModel" });
export type WorldModel = z.infer<typeof WorldModel>;

/** How a world measures how sure it is, and what it does if it is not sure enough. */
export const WorldConfidence = z
  .strictObject({
    methods: list(ConfidenceMethod)
      .min(1)
      .max(4)
      .refine((methods) => new Set(methods).size === methods.length, "A method should be named once")
      .meta({
        uniqueItems: true,
        description:
          "`agreement`: the share of equal answers among several. `logprob`: the mean probability of the tokens, where the upstream returns it. `stated`: the model is asked after the answer. `retrieval`: how well the records support it. With several methods the score is their mean, until a calibration weighs them.",
      }),
    samples: z.int().min(2).max(32).nullish().meta({
      default: 5,
      description: "How many answers `agreement` asks for, each a prediction.",
    }),
    calibration: z
      .strictObject({
        dataset: shortText(200).meta({ description: "The name of a dataset of the account, or its id." }),
        revision: z.int().min(1).nullish().meta({ description: "Its revision; any if not given." }),
        split: shortText(200)
          .refine((split) => split !== "test", "A world cannot be calibrated on the samples that test it")
          .nullish()
          .meta({ description: "The tag `split` of its samples, not `test`; all if not given." }),
      })
      .nullish()
      .meta({
        description:
          "What the world is to be calibrated on: a run of other samples is refused, and a calibration uses this split.",
      }),
    min_confidence: z.number().gte(0).lte(1).nullish().meta({
      description: "The confidence that an answer needs. Only once the world is calibrated.",
    }),
    below: z.enum(["abstain", "escalate"]).nullish().meta({
      default: "abstain",
      description:
        "What happens to an answer with less: it is marked `abstained`, or `escalate_to` is asked afresh.",
    }),
    escalate_to: shortText(200).nullish().meta({ description: "A deployment, by its name." }),
    hide_abstained: z.boolean().nullish().meta({
      default: false,
      description: "Whether the text of an answer with less is left out.",
    }),
  })
  .meta({ id: "WorldConfidence" });
export type WorldConfidence = z.infer<typeof WorldConfidence>;

const configFields = {
  description: boundedText(maxDescriptionCharacters).nullish().meta({ description: "What the world is." }),
  instructions: boundedText(200_000).nullish().meta({
    description: "The beginning of the system turn. If not given, a built-in text, which the preview shows.",
  }),
  context: Context.nullish().meta({
    description: "Background in every prediction. A request's own sections take precedence.",
  }),
  examples: WorldExamples.nullish().meta({ description: "The recorded transitions that it leans on." }),
  retrieval: WorldRetrieval.nullish().meta({ description: "How examples are found and chosen." }),
  history: z
    .strictObject({
      steps: z
        .int()
        .min(0)
        .max(64)
        .nullish()
        .meta({ default: worldDefaults.history.steps, description: "The most steps." }),
      max_chars: z
        .int()
        .min(0)
        .max(200_000)
        .nullish()
        .meta({ default: worldDefaults.history.max_chars, description: "The most characters." }),
    })
    .nullish()
    .meta({ description: "How many of the earlier steps are in the prompt; the newest are kept." }),
  confidence: WorldConfidence.nullish().meta({ description: "How it measures how sure it is." }),
  model: WorldModel.nullish().meta({ description: "What answers; the default deployment if not given." }),
  reward: EpisodeReward.nullish().meta({
    description: "The reward in environments that name the world and have no reward of their own.",
  }),
};

/** The configuration of a world. */
export const WorldConfig = z.strictObject(configFields).meta({ id: "WorldConfig" });
export type WorldConfig = z.infer<typeof WorldConfig>;

/** Body of `PATCH /v1/worlds/{name}`. */
export const WorldReviseRequest = z
  .strictObject({
    archived: z.boolean().optional().meta({
      description: "Hides the world from lists, or shows it again. This adds no revision.",
    }),
    ...configFields,
  })
  .meta({ id: "WorldReviseRequest" });
export type WorldReviseRequest = z.infer<typeof WorldReviseRequest>;

/** What a revision resolved to when it was made. */
export const WorldPins = z
  .object({
    examples: z
      .object({
        dataset_id: z.uuid().meta({ description: "The dataset's id." }),
        dataset: z.string().meta({ description: "Its name at that time." }),
        revision: z.int().meta({ description: "The number of its revision." }),
        digest: z.string().meta({ description: "SHA-256 of that revision's lines." }),
        count: z.int().meta({ description: "The number of examples." }),
        trajectories: z.int().meta({ description: "How many trajectories they belong to." }),
        actions: z.int().meta({ description: "How many distinct actions they have." }),
        features: z.string().meta({ description: "The version of the features that examples are found by." }),
        order: order.optional().meta({ description: "As it was when the revision was made." }),
        index_digest: z.string().meta({ description: "SHA-256 of their index." }),
      })
      .nullable()
      .meta({ description: "Null for a world without examples." }),
    calibration: WorldCalibration.nullable().meta({
      description: "Turns the methods' scores into a confidence; null until the world is calibrated.",
    }),
    prompt_digest: z.string().meta({ description: "SHA-256 of the system turn." }),
  })
  .meta({ id: "WorldPins" });
export type WorldPins = z.infer<typeof WorldPins>;

/** Body of `POST /v1/worlds`. */
export const WorldCreateRequest = z
  .strictObject({
    name: worldName.meta({
      description: "No other world of the account, and no deployment, may have this name.",
    }),
    ...configFields,
    pinned: WorldPins.nullish().meta({
      description:
        "The pins of the world that this one is a copy of, as in `GET /v1/worlds/{name}`. If the examples or the prompt turn out different, the request is refused. The calibration is kept.",
    }),
  })
  .meta({ id: "WorldCreateRequest" });
export type WorldCreateRequest = z.infer<typeof WorldCreateRequest>;

/** A world in one of its revisions. */
export const World = z
  .object({
    name: z.string().meta({ description: "Unique in the account." }),
    revision: z
      .int()
      .meta({ description: "Counts the changes of a world of this name from 1, even across its deletion." }),
    config: WorldConfig.meta({ description: "Its configuration, as given." }),
    pinned: WorldPins.meta({ description: "What it resolved to when the revision was made." }),
    archived: z.boolean().meta({ description: "Whether lists leave it out." }),
    created_at: instant.meta({ description: "When the world was created." }),
    revised_at: instant.meta({ description: "When this revision was made." }),
    made_by: z.string().nullable().optional().meta({
      description:
        "Who made this revision, by name or email address; only in the list of revisions. Null if that is no longer known.",
    }),
  })
  .meta({ id: "World" });
export type World = z.infer<typeof World>;

/** Path of `/v1/worlds/{name}`. */
export const WorldPath = z.object({
  name: storableText().meta({
    description: "The world's name, for its latest revision, or NAME@NUMBER.",
    examples: ["shop@3"],
  }),
});

/** Path of operations on a world, regardless of its revision. */
export const WorldNamePath = z.object({
  name: storableText().meta({ description: "The world's name.", examples: ["shop"] }),
});

/** Query of `GET /v1/worlds`. */
export const WorldListQuery = z.object(pageQuery());

/** Response of `GET /v1/worlds`. */
export const WorldListResponse = listOf(
  "WorldListResponse",
  World,
  "The account's worlds in their latest revisions, newest first.",
);

/** Query of `GET /v1/worlds/{name}/revisions`. */
export const WorldRevisionListQuery = z.object(
  numberedPageQuery({ noun: "revisions", default: defaultRevisionLimit, first: 1 }),
);

/** Response of `GET /v1/worlds/{name}/revisions`. */
export const WorldRevisionListResponse = listOf(
  "WorldRevisionListResponse",
  World,
  "The revisions, highest number first.",
);

/** Body of `POST /v1/worlds/{name}/preview`. */
export const WorldPreviewRequest = z
  .strictObject({
    context: Context.nullish().meta({ description: "Sections that replace the world's." }),
    interaction: Interaction.nullish().meta({ description: "The step to predict." }),
    sample: z
      .strictObject({
        dataset_sample_id: storableText().meta({ description: "The sample's id in its dataset." }),
        dataset: shortText(200).nullish().meta({
          description:
            "The name of a dataset of the account, or its id. If not given, that of the world's examples, in their revision.",
        }),
        revision: z.int().min(1).nullish().meta({
          description: "The number of its revision. If not given, the latest.",
        }),
      })
      .nullish()
      .meta({
        description:
          "A recorded step to predict, in place of `interaction`: with its context and the steps before it, and without its own trajectory among the examples.",
      }),
    ...worldRequestFields,
  })
  .refine(({ interaction, sample }) => Boolean(interaction) !== Boolean(sample), {
    error: "Give either interaction or sample",
  })
  .meta({ id: "WorldPreviewRequest" });
export type WorldPreviewRequest = z.infer<typeof WorldPreviewRequest>;

/** Response of `POST /v1/worlds/{name}/preview`. */
export const WorldPreview = z
  .object({
    world: AnsweringWorld.omit({ answered_by: true }).meta({ description: "The world's revision." }),
    messages: z.array(PromptMessage).meta({ description: "What would be sent." }),
    answer: z.string().nullable().meta({
      description: "What the records alone would answer; null if there is no example.",
    }),
    explain: WorldExplanation.meta({ description: "The examples, and why they were chosen." }),
  })
  .meta({ id: "WorldPreview" });
export type WorldPreview = z.infer<typeof WorldPreview>;
