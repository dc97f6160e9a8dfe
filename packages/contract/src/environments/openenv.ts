import { z } from "zod";
import { boundedObject, count, storableText, string, stringOrNull } from "../text.ts";
import { EnvironmentPath, EnvironmentTask } from "./environment.ts";
import { EpisodeCreateRequest, StepRequest } from "./episode.ts";

const maxMetadataCharacters = 10_000;
const maxEpisodeIdCharacters = 255;

/** What an agent does, as OpenEnv's clients send it. */
export const OpenEnvAction = z
  .strictObject({
    message: StepRequest.shape.action,
    metadata: boundedObject(maxMetadataCharacters, "metadata").optional().meta({
      description: "Accepted and not used.",
    }),
  })
  .meta({ title: "MessageAction" });

const { split, index, seed, policy } = EpisodeCreateRequest.shape;

/** How an episode is begun or continued. Other fields are ignored, as OpenEnv's own server does. */
export const OpenEnvReset = z
  .looseObject({
    episode_id: z.string().max(maxEpisodeIdCharacters).nullish().meta({
      description:
        "An episode that this protocol started, to continue it. Any other text is the client's own name for a new one.",
    }),
    split,
    index,
    seed,
    policy,
  })
  .meta({ id: "OpenEnvReset" });

/** What an agent sees. */
export const OpenEnvObservation = z
  .object({
    prompt: string("The observation. At the start of an episode, the task's prompt comes before it."),
    truncated: z.boolean().meta({
      description: "Whether the episode was cut short, by its number of steps or a guard.",
    }),
    done: z.boolean().default(false).meta({ description: "Whether the episode is over." }),
    reward: z.number().nullable().default(null).meta({ description: "The reward of the last action." }),
    metadata: z
      .record(z.string(), z.unknown())
      .default({})
      .meta({ description: "The episode's id, and how many steps it has." }),
  })
  .meta({ title: "PromptObservation" });

/** Where an episode stands. */
export const OpenEnvState = z
  .object({
    episode_id: stringOrNull(
      "The episode, by the client's own name if it gave one. Null before the first reset.",
    ),
    step_count: z.int().min(0).meta({ description: "How many steps it has." }),
  })
  .meta({ title: "State" });

const jsonSchema = z.record(z.string(), z.unknown());

/** Response of `GET …/openenv/schema`. */
export const OpenEnvSchemaResponse = z
  .object({
    action: jsonSchema.meta({ description: "JSON schema of an action, the data of a step." }),
    observation: jsonSchema.meta({ description: "JSON schema of an observation." }),
    state: jsonSchema.meta({ description: "JSON schema of the state." }),
  })
  .meta({ id: "OpenEnvSchemaResponse" });
export type OpenEnvSchemaResponse = z.infer<typeof OpenEnvSchemaResponse>;

/** Response of `GET …/openenv/metadata`. */
export const OpenEnvMetadataResponse = z
  .object({
    name: string("The environment's name."),
    description: string("What the environment is."),
    version: string("Its revision."),
  })
  .meta({ id: "OpenEnvMetadataResponse" });

/** Response of `GET …/openenv/health`. */
export const OpenEnvHealthResponse = z
  .object({ status: z.literal("healthy").meta({ description: "Always `healthy`." }) })
  .meta({ id: "OpenEnvHealthResponse" });

const rpcId = z.union([z.string(), z.number()]).nullable();

/** Body of `POST …/openenv/mcp`. */
export const OpenEnvMcpRequest = z
  .looseObject({ id: rpcId.optional().meta({ description: "The id for the response." }) })
  .meta({ id: "OpenEnvMcpRequest" });
export type OpenEnvMcpRequest = z.infer<typeof OpenEnvMcpRequest>;

/** Response of `POST …/openenv/mcp`, always an error. */
export const OpenEnvMcpResponse = z
  .object({
    jsonrpc: z.literal("2.0").meta({ description: "The version of JSON-RPC." }),
    id: rpcId.meta({ description: "The request's id; null if it has none." }),
    error: z
      .object({
        code: count("A JSON-RPC error code."),
        message: string("What it means."),
      })
      .meta({ description: "Why there is no result." }),
  })
  .meta({ id: "OpenEnvMcpResponse" });
export type OpenEnvMcpResponse = z.infer<typeof OpenEnvMcpResponse>;

/** The path of OpenEnv's Task API, which contains the environment's name a second time. */
export const OpenEnvTaskPath = EnvironmentPath.extend({
  env_name: storableText().meta({ description: "The name again, in upper or lower case." }),
});

/** Response of `GET …/openenv/list_environments`. */
export const OpenEnvNamesResponse = z
  .array(z.string())
  .meta({ id: "OpenEnvNamesResponse", description: "The name of the environment, and no other." });

/** Response of `GET …/openenv/{env_name}/splits`. */
export const OpenEnvSplitsResponse = z
  .array(
    z.object({
      name: EnvironmentTask.shape.split,
      type: EnvironmentTask.shape.split,
    }),
  )
  .meta({ id: "OpenEnvSplitsResponse", description: "The splits that have tasks." });

/** Response of `POST …/openenv/{env_name}/num_tasks`. */
export const OpenEnvTaskCountResponse = z
  .object({ num_tasks: z.int().min(0).meta({ description: "How many tasks the split has." }) })
  .meta({ id: "OpenEnvTaskCountResponse" });

const OpenEnvTask = EnvironmentTask.omit({ initial_state: true, context: true });

const env_name = string("The environment's name.");

/** Response of `POST …/openenv/{env_name}/task`. */
export const OpenEnvTaskResponse = z
  .object({ task: OpenEnvTask.meta({ description: "The task." }), env_name })
  .meta({ id: "OpenEnvTaskResponse" });

/** Response of `POST …/openenv/{env_name}/tasks` and `/task_range`. */
export const OpenEnvTaskListResponse = z
  .object({
    tasks: z.array(OpenEnvTask).meta({ description: "The tasks, in their order." }),
    env_name,
  })
  .meta({ id: "OpenEnvTaskListResponse" });

/** Why a message was not carried out, as OpenEnv's codes. */
export const OpenEnvErrorCode = z.enum([
  "INVALID_JSON",
  "UNKNOWN_TYPE",
  "VALIDATION_ERROR",
  "EXECUTION_ERROR",
  "CAPACITY_REACHED",
  "SESSION_ERROR",
]);
export type OpenEnvErrorCode = z.infer<typeof OpenEnvErrorCode>;
