import { z } from "zod";
import { ErrorCategory } from "../responses.ts";
import { boolean, count, countOrNull, figure, number, string, stringOrNull } from "../text.ts";

/** One model of the upstream, in OpenAI's shape. Unknown properties are kept. */
export const Model = z
  .looseObject({
    id: string("The model's name, as requests send it."),
    object: z.string().optional().meta({ description: "`model`." }),
  })
  .meta({ id: "Model" });
export type Model = z.infer<typeof Model>;

/** Path parameters of one model. */
export const ModelPath = z.object({
  id: z.string().meta({
    description: "A model's id. Its slashes need not be encoded.",
    examples: ["presage-sandbox"],
  }),
});

/** Response of `GET /v1/models`: the upstream's list, unchanged. */
export const ModelListResponse = z
  .looseObject({
    object: z.string().optional().meta({ description: "`list`." }),
    data: z.array(Model).meta({ description: "The models." }),
  })
  .meta({ id: "ModelListResponse" });
export type ModelListResponse = z.infer<typeof ModelListResponse>;

const ReplicaStatus = z.object({
  url: string("The base URL, without user, password and query."),
  state: z.enum(["up", "ejected", "returning"]).meta({
    description:
      "`ejected`: it failed three times in a row and is left out. `returning`: it answers again and has to answer one request before it gets its share.",
  }),
  is_failing: boolean(
    "Whether it counts as out, though it may still be asked: it is ejected, or its last three calls failed, or all calls of the last 5 minutes, at least three, failed.",
  ),
  in_flight: count("Requests that it has not answered yet."),
  limit: countOrNull(
    "How many requests it may have at once; a 429 halves it where there are other replicas, and it is 0 while the replica rests. Null if there is no limit.",
  ),
  ejections: count("How often it was ejected since the process started."),
  last_failure: z
    .object({
      at: z.iso.datetime().meta({ description: "When the request failed." }),
      category: ErrorCategory.meta({ description: "How it failed." }),
    })
    .nullable()
    .meta({
      description: "The last failed request to this replica, 4xx aside. Null if there is none.",
    }),
  recent: z
    .object({
      calls: count("Tries that have ended, retries included."),
      failed: count(
        "How many of them failed for a reason of the deployment: no response, a time-out, a 5xx, a refused credential or address, a broken answer.",
      ),
    })
    .meta({ description: "Calls of the last 5 minutes." }),
  latency_ms: z
    .object({
      p50: number("The median in milliseconds."),
      p99: number("The 99th percentile in milliseconds."),
    })
    .nullable()
    .meta({ description: "Latency of its last 256 successful requests. Null before the first." }),
  prefix_share: figure(
    "Share of its requests whose prefix it most likely has in memory: those that belong to it by their trajectory, or stayed after they had to move. The others came because another replica was full or out. Null before the first.",
  ),
});

const DeploymentStatus = z.object({
  name: string("As requests name it: in `x-presage-deployment`, or as `model` of a chat."),
  model: stringOrNull(
    "The model that requests are sent to. Null if it is not configured and the upstream was not asked yet.",
  ),
  is_default: boolean("Whether it answers requests that name no deployment."),
  state: z.enum(["up", "degraded", "out"]).meta({
    description:
      "`out`: every replica is ejected or failed its last three calls, or all calls of the last 5 minutes, at least three, failed. `degraded`: some replica is out, or at least 5 % of the calls failed.",
  }),
  error_rate: figure(
    "Share of the tries of the last 5 minutes that failed for a reason of the deployment, retries included. Null if there were none.",
  ),
  process_id: count("The process that these figures come from. Each process counts separately."),
  replicas: z
    .array(ReplicaStatus)
    .optional()
    .meta({ description: "Its replicas. Only for callers in the account `default`." }),
});

/** Response of `GET /v1/deployments`: the models behind this server, and their replicas as one process sees them. */
export const DeploymentListResponse = z
  .object({
    data: z.array(DeploymentStatus).meta({ description: "The deployments, in the order of the file." }),
  })
  .meta({ id: "DeploymentListResponse" });
export type DeploymentListResponse = z.infer<typeof DeploymentListResponse>;
/** A model behind the server, and its condition. */
export type DeploymentStatus = z.infer<typeof DeploymentStatus>;
/** One of the servers of a deployment, and its condition. */
export type ReplicaStatus = z.infer<typeof ReplicaStatus>;
