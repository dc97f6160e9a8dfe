import { z } from "zod";
import { list, objectWithRules, type Rule } from "../custom-schemas.ts";
import { Context, Interaction } from "../prediction/prediction.ts";
import {
  listOf,
  nextCursor,
  numberedPageQuery,
  pageQuery,
  queryBoolean,
  queryInteger,
  wrongCursor,
} from "../query.ts";
import {
  boundedText,
  count,
  dateTime,
  instant,
  maxDescriptionCharacters,
  shortText,
  storableText,
  string,
  stringOrNull,
} from "../text.ts";
import { DatasetImport, importOptions, importPreviewOf, SampleUsage } from "./imports.ts";
import { newTags } from "./result.ts";

/** With the step appended, an id still fits a result's `dataset_sample_id`. */
export const maxTrajectoryIdCharacters = 180;
/** Each message of a conversation counts in every later step of it. */
export const maxConversationMessages = 1_000;

const described = {
  sampleId: "Unique in the revision; results name it in dataset_sample_id.",
  trajectoryId: "The trajectory that the step belongs to.",
  step: "The place in the trajectory.",
  nextState: "What the environment answered.",
  reward: "The environment's reward.",
  done: "Whether the episode ended with this step. An episode that was cut off, as by a limit of steps, did not end.",
  at: "When the answer came.",
  usage: "What the agent's call that made the action took.",
  messages:
    "Instead of interaction: the conversation up to and including the user's turn, sent unchanged. Empty if only the response is known.",
};

/** The number of a revision in its dataset, from 1. */
const revisionNumber = count("Counts the dataset's revisions from 1.");

/** The warnings in responses to uploads. */
export const uploadWarnings = z
  .array(z.string())
  .optional()
  .meta({ description: "For an upload: what was passed over, if anything." });

/** An immutable set of samples. */
export const DatasetRevision = z
  .object({
    revision: revisionNumber,
    digest: z.string().meta({
      description: "SHA-256 of the revision's lines as they are exported, in hexadecimal.",
      pattern: "^[0-9a-f]{64}$",
    }),
    samples: count("The number of samples."),
    trajectories: count("The number of trajectories."),
    bytes: count("The length of the exported lines, which counts against the quota."),
    created_at: instant.meta({ description: "When its upload was complete." }),
    warnings: uploadWarnings,
    import: DatasetImport.nullish().meta({
      description:
        "How the lines were made from traces; null if they were not, or if the revision is older than this record.",
    }),
  })
  .meta({ id: "DatasetRevision" });
export type DatasetRevision = z.infer<typeof DatasetRevision>;

const jsonPath = z
  .string()
  .max(500)
  .regex(
    /^\$(\.[^.[\]'*\s]+|\.\*|\[(\d+|\*|'[^']*')\])*$/,
    "A path is like $.objects[*].properties or $['game state'][0]",
  );
const jsonPaths = list(jsonPath).min(1).max(50).nullish();

const pathsOrIgnore: Rule = {
  isKept: ({ paths, ignore }: { paths?: unknown; ignore?: unknown }) => !paths !== !ignore,
  path: ["paths"],
  message: "Give either paths or ignore",
  jsonSchema: {
    oneOf: ["paths", "ignore"].map((name) => ({
      required: [name],
      properties: { [name]: { type: "array" } },
    })),
  },
};

/** Which parts of JSON states count when deciding whether the state changed. */
export const DatasetChange = objectWithRules(
  {
    paths: jsonPaths.meta({ description: "Only what is at these JSON paths counts, at most 50." }),
    ignore: jsonPaths.meta({ description: "Everything except what is at these JSON paths counts." }),
  },
  pathsOrIgnore,
).meta({ id: "DatasetChange" });
export type DatasetChange = z.infer<typeof DatasetChange>;

const change =
  "What counts as a change of JSON states: reports group samples by it. Null: every field; in LLM-Sim's states, what its authors count.";

/** Recorded transitions of an environment, in revisions. */
export const Dataset = z
  .object({
    id: z.uuid().meta({ description: "Results name it in dataset_id." }),
    name: string("Unique in the account."),
    description: stringOrNull("What the dataset is."),
    tags: z.record(z.string(), z.string()).nullable().meta({ description: "Texts by name, as given." }),
    change: DatasetChange.nullable().meta({ description: change }),
    latest_revision: DatasetRevision.nullable().meta({
      description: "The revision with the highest number; null until there is one.",
    }),
    created_by: z.uuid().meta({ description: "The id of the user who created it." }),
    created_at: instant.meta({ description: "When it was created." }),
  })
  .meta({ id: "Dataset" });
export type Dataset = z.infer<typeof Dataset>;

/** Body of `POST /v1/datasets`. */
export const DatasetCreateRequest = z
  .strictObject({
    name: shortText(200).meta({ description: "No other dataset of the account may have this name." }),
    description: boundedText(maxDescriptionCharacters)
      .nullish()
      .meta({ description: "What the dataset is." }),
    tags: newTags,
    change: DatasetChange.strict()
      .meta({ ...pathsOrIgnore.jsonSchema })
      .nullish()
      .meta({ description: `${change} It stays as it is.` }),
  })
  .meta({ id: "DatasetCreateRequest" });
export type DatasetCreateRequest = z.infer<typeof DatasetCreateRequest>;

const SampleMessage = z.strictObject({
  role: z.enum(["system", "user", "assistant"]).meta({ description: "Who wrote the message." }),
  content: string("The message's text."),
});

const stepFields = {
  trajectory_id: shortText(maxTrajectoryIdCharacters).meta({ description: described.trajectoryId }),
  step: z.int().min(0).meta({ description: described.step }),
};

/** One line of an upload in Presage's own format. */
export const DatasetLine = z
  .strictObject({
    dataset_sample_id: shortText(200)
      .nullish()
      .meta({ description: `${described.sampleId} TRAJECTORY/STEP if not given.` }),
    ...stepFields,
    context: Context.nullish().meta({
      description: "Background for the world model. Not together with messages.",
    }),
    interaction: Interaction.nullish().meta({ description: "The state and the action." }),
    messages: list(SampleMessage)
      .max(maxConversationMessages)
      .nullish()
      .meta({ description: described.messages }),
    next_state: z.string().meta({ description: described.nextState }),
    reward: z.number().nullish().meta({ description: described.reward }),
    done: z.boolean().nullish().meta({ description: described.done }),
    at: dateTime().nullish().meta({ description: described.at }),
    usage: SampleUsage.nullish().meta({ description: described.usage }),
    tags: newTags,
  })
  .meta({ id: "DatasetLine" });
export type DatasetLine = z.infer<typeof DatasetLine>;

/** A recorded transition. */
export const DatasetSample = z
  .object({
    dataset_sample_id: z.string().meta({ description: described.sampleId }),
    trajectory_id: z.string().meta({ description: described.trajectoryId }),
    step: z.int().meta({ description: described.step }),
    context: Context.optional().meta({ description: "Background for the world model." }),
    interaction: Interaction.optional().meta({ description: "The state and the action." }),
    messages: z.array(SampleMessage).optional().meta({ description: described.messages }),
    next_state: z.string().meta({ description: described.nextState }),
    reward: z.number().optional().meta({ description: described.reward }),
    done: z.boolean().optional().meta({ description: described.done }),
    at: z.string().optional().meta({ description: described.at }),
    usage: SampleUsage.optional().meta({ description: described.usage }),
    tags: z.record(z.string(), z.string()).optional().meta({ description: "Texts by name, as given." }),
  })
  .meta({ id: "DatasetSample" });
export type DatasetSample = z.infer<typeof DatasetSample>;

/** Response of `POST /v1/imports/preview`. */
export const ImportPreview = importPreviewOf(DatasetSample).meta({ id: "ImportPreview" });
export type ImportPreview = z.infer<typeof ImportPreview>;

const datasetId = storableText().meta({
  description: "The dataset's id.",
  examples: ["019aa5f4-2c61-7000-b5a7-41d27c0c9e33"],
});

/** Path of `/v1/datasets/{id}`. */
export const DatasetPath = z.object({ id: datasetId });

/** Path of `/v1/datasets/{id}/trajectories/{trajectory_id}`. */
export const DatasetTrajectoryPath = z.object({
  id: datasetId,
  trajectory_id: storableText().meta({
    description: "The trajectory's id, percent-encoded.",
    examples: ["kitchen-1"],
  }),
});

/** Query of `POST /v1/datasets/{id}/revisions`. */
export const DatasetUploadQuery = z.object({
  append: queryBoolean().optional().meta({
    default: false,
    description:
      "The new revision has the lines of the latest one, then those of the body. If another revision is added meanwhile, the request gets 409.",
  }),
  from: z.enum(["episodes", "reality-checks"]).optional().meta({
    description:
      "The body says as JSON, in place of lines, which trajectories the revision has. `episodes`: these episodes (`EpisodeSelection`). `reality-checks`: the episodes of these checks, as they went in reality (`RealityCheckSelection`).",
  }),
  ...importOptions,
});
export type DatasetUploadQuery = z.infer<typeof DatasetUploadQuery>;

const revision = queryInteger({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })
  .optional()
  .meta({ description: "The number of a revision; the latest if not given." });

/** Query parameters of routes that read one revision. */
export const DatasetRevisionQuery = z.object({ revision });
export type DatasetRevisionQuery = z.infer<typeof DatasetRevisionQuery>;

const followingPage = "The `next` of an earlier response, to get the following page.";
const after = queryInteger({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })
  .optional()
  .meta({ description: followingPage });

/** Query of `GET /v1/datasets/{id}/trajectories/{trajectory_id}`. */
export const DatasetTrajectoryQuery = z.object({
  revision,
  limit: queryInteger({ minimum: 1, maximum: 1000 }).optional().meta({
    description:
      "Maximum number of samples; a page of long samples may have fewer. If not given, all samples follow.",
  }),
  after: queryInteger({ minimum: -1, maximum: Number.MAX_SAFE_INTEGER }).optional().meta({
    description: "Only samples after this step, for example the `next` of an earlier response.",
  }),
});

/** How many trajectories a page has unless its query says otherwise. */
export const defaultTrajectoryLimit = 100;

/** Query of `GET /v1/datasets/{id}/trajectories`. */
export const DatasetTrajectoryListQuery = z.object({
  revision,
  contains: storableText().max(maxTrajectoryIdCharacters).optional().meta({
    description: "Only trajectories whose id contains this text; ASCII letters match in either case.",
  }),
  order: z.enum(["trajectory_id", "steps", "-steps"]).optional().meta({
    default: "trajectory_id",
    description: "By id, or by the number of steps; with a minus, the longest first.",
  }),
  limit: queryInteger({ minimum: 1, maximum: 1000 }).optional().meta({
    default: defaultTrajectoryLimit,
    description: "Maximum number of trajectories on the page. A page of long samples may have fewer.",
  }),
  after: storableText()
    .regex(/^\d{1,15}\.[\s\S]{1,400}$/, wrongCursor)
    .optional()
    .meta({ description: followingPage }),
});
export type DatasetTrajectoryListQuery = z.infer<typeof DatasetTrajectoryListQuery>;

/** How many samples a page has unless its query says otherwise. */
export const defaultSampleLimit = 100;

/** Query of `GET /v1/datasets/{id}/samples`. */
export const DatasetSampleListQuery = z.object({
  revision,
  limit: queryInteger({ minimum: 1, maximum: 1000 }).optional().meta({
    default: defaultSampleLimit,
    description: "Maximum number of samples on the page. A page of long samples may have fewer.",
  }),
  after,
});

/** Query of `DELETE /v1/datasets/{id}`. */
export const DatasetDeleteQuery = z.object({
  with_runs: queryBoolean().optional().meta({
    default: false,
    description: "Deletes the dataset's runs as well. Otherwise a dataset with runs is not deleted.",
  }),
});

/** Query of `GET /v1/datasets`. */
export const DatasetListQuery = z.object(pageQuery());

/** Response of `GET /v1/datasets`: the account's datasets, newest first. */
export const DatasetListResponse = listOf("DatasetListResponse", Dataset, "The datasets, newest first.");

/** Query of `GET /v1/datasets/{id}/revisions`. */
export const DatasetRevisionListQuery = z.object(numberedPageQuery({ first: 0 }));

/** Response of `GET /v1/datasets/{id}/revisions`: the revisions, newest first. */
export const DatasetRevisionListResponse = listOf(
  "DatasetRevisionListResponse",
  DatasetRevision,
  "The revisions, newest first.",
);

/** Response of `GET /v1/datasets/{id}/samples`: samples in the order of their lines. */
export const DatasetSampleListResponse = listOf(
  "DatasetSampleListResponse",
  DatasetSample,
  "The samples, in the order of their lines.",
);
export type DatasetSampleListResponse = z.infer<typeof DatasetSampleListResponse>;

/** Response of `GET /v1/datasets/{id}/trajectories/{trajectory_id}`. */
export const DatasetTrajectory = z
  .object({
    samples: z.array(DatasetSample).meta({ description: "Its samples, by step." }),
    trajectory_id: string("The trajectory's id."),
    next: nextCursor,
  })
  .meta({ id: "DatasetTrajectory" });
export type DatasetTrajectory = z.infer<typeof DatasetTrajectory>;

/** A trajectory of a revision, without its samples. */
export const DatasetTrajectorySummary = z
  .object({
    trajectory_id: string("The trajectory's id."),
    steps: count("The number of its samples."),
    first_step: count("The lowest step."),
    last_step: count("The highest step."),
    first_action: string(
      "The first 200 characters of its first sample's action, or of the last message there.",
    ),
    tags: z.record(z.string(), z.string()).nullable().meta({ description: "The tags of its first sample." }),
  })
  .meta({ id: "DatasetTrajectorySummary" });
export type DatasetTrajectorySummary = z.infer<typeof DatasetTrajectorySummary>;

/** Response of `GET /v1/datasets/{id}/trajectories`. */
export const DatasetTrajectoryListResponse = listOf(
  "DatasetTrajectoryListResponse",
  DatasetTrajectorySummary,
  "The trajectories, in the requested order.",
);
export type DatasetTrajectoryListResponse = z.infer<typeof DatasetTrajectoryListResponse>;
