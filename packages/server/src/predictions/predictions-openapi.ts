import { ChatCompletionResponse, WorldReference } from "@presage/contract";
import { z } from "zod";
import { budgetSpent, errorResponse, response, shouldRetryHeader } from "../http/describe.ts";
import examples from "./examples.json" with { type: "json" };

/** Examples of errors that the upstream caused. */
export const rateLimit = errorResponse(
  "The rate limit of the upstream, the key, its user or its account was reached, or the key has too many requests in progress (rate_limit)",
  "The upstream limits the rate of requests.",
  {
    upstream_status: 429,
    upstream_body: '{"error":{"message":"Too many requests."}}',
    category: "rate_limit",
  },
);
export const upstreamFailed = {
  ...errorResponse("The upstream failed in another way (upstream)", "The upstream failed the request.", {
    upstream_status: 500,
    upstream_body: '{"error":{"message":"CUDA out of memory."}}',
    category: "upstream",
  }),
  headers: shouldRetryHeader(
    "`false` if the upstream refused the request with a 4xx: it would refuse it again.",
  ),
};
export const upstreamUnavailable = {
  ...errorResponse(
    "The upstream or Presage is temporarily unavailable (unavailable)",
    "The upstream cannot be reached.",
    { category: "unavailable" },
  ),
  headers: {
    "Retry-After": {
      description: "Seconds until the request can be retried, or the upstream's own value.",
      schema: { type: "string" as const },
    },
  },
};
export const timeout = errorResponse(
  "The upstream timed out (timeout)",
  "The upstream did not respond within 120000 ms.",
  { category: "timeout" },
);

export const predictionFailures = {
  ...budgetSpent,
  "404": errorResponse(
    "There is no such world, or it has no such revision",
    "The world shop has no revision 7; the latest is 3.",
  ),
  "409": errorResponse(
    "The world's examples are gone with their dataset",
    "The dataset with the examples of the world shop is deleted. Revise it with other examples, or with none.",
    { category: "examples_gone" },
  ),
  "413": errorResponse(
    "The input exceeds the model's context length (context_exceeded), or the body is too large (no category)",
    "The input exceeds the upstream model's context length.",
    {
      upstream_status: 400,
      upstream_body: '{"message":"This model\'s maximum context length is 8192 tokens."}',
      category: "context_exceeded",
    },
  ),
  "429": rateLimit,
  "502": upstreamFailed,
  "503": upstreamUnavailable,
  "504": timeout,
};

const sessionId = z
  .string()
  .regex(/^[!-~]{1,256}$/)
  .optional();
/** The headers of requests that a model answers. */
export const predictionHeaders = z.object({
  "cache-control": z.string().optional().meta({
    description:
      "If the deployment has a cache: `no-store` bypasses it, `no-cache` refreshes it, `max-age` accepts nothing older, in seconds.",
    example: "max-age=3600",
  }),
  "x-presage-deployment": z
    .string()
    .regex(/^[a-zA-Z0-9][\w.-]{0,63}$/)
    .optional()
    .meta({
      description:
        "The deployment to use, by its name in `GET /v1/deployments`. It takes precedence over `model`. If absent, the default one.",
    }),
  "x-presage-world": WorldReference.optional().meta({
    description:
      "The world to predict through: NAME, or NAME@NUMBER for one of its revisions. The response names it in the same header.",
  }),
  "x-session-id": sessionId.meta({
    description:
      "Requests with the same value go to the same replica of the model, which has their prefix cached. It is forwarded to the upstream. If absent, the part of the prompt that stays the same through a trajectory decides.",
    example: "rollout-17",
  }),
  "x-smg-routing-key": sessionId.meta({
    description: "The same, under the name that SGLang's gateway uses. `x-session-id` takes precedence.",
    example: "rollout-17",
  }),
});

/** Describes the headers of a prediction's response: which deployment answered, and when. */
export function answered<Described extends object>(described: Described) {
  const description =
    "The name of the deployment that answered, which may be the fallback of the one that was asked.";
  return {
    ...described,
    headers: {
      "x-presage-deployment": { description, schema: { type: "string" as const } },
      "x-presage-cache": {
        description:
          "How the cache was used. `hit`: a stored response. `shared`: the response to an identical request that was in progress. `miss`: the model was called, and its response may have been stored. `off`: the model was called; such requests are not cached.",
        schema: { type: "string" as const, enum: ["hit", "miss", "shared", "off"] },
      },
      Age: {
        description: "On a hit: how long ago the model answered, in seconds.",
        schema: { type: "integer" as const, minimum: 0 },
      },
    },
  };
}

export const chatCompletion = response(
  "The upstream's completion, byte for byte. Only `choices` is guaranteed",
  ChatCompletionResponse.or(
    z.looseObject({
      choices: z.array(z.unknown()).min(1).meta({ description: "The generated messages." }),
    }),
  ),
  examples.chatCompletion,
);
