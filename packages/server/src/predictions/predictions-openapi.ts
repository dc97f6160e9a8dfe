import {
  ChatCompletionRequest,
  ChatCompletionResponse,
  Model,
  ModelListResponse,
  ModelPath,
  OpenAiChatCompletionRequest,
  WorldModelPrediction,
  WorldModelRequest,
  WorldModelResponse,
} from "@presage/contract";
import { z } from "zod";
import type {
  ZodOpenApiOperationObject,
  ZodOpenApiPathsObject,
  ZodOpenApiResponsesObject,
} from "zod-openapi";
import type { Settings } from "../app/services.ts";
import {
  body,
  errorResponse,
  operation,
  operationWithOwnFailures,
  response,
  shouldRetryHeader,
  unauthorized,
} from "../http/describe.ts";

/** Examples of errors that the upstream caused. */
const rateLimit = errorResponse(
  "The rate limit of the upstream, the key, its user or its account was reached, or the key has too many requests in progress (rate_limit)",
  "The upstream limits the rate of requests.",
  {
    upstream_status: 429,
    upstream_body: '{"error":{"message":"Too many requests."}}',
    category: "rate_limit",
  },
);
const upstreamFailed = {
  ...errorResponse("The upstream failed in another way (upstream)", "The upstream failed the request.", {
    upstream_status: 500,
    upstream_body: '{"error":{"message":"CUDA out of memory."}}',
    category: "upstream",
  }),
  headers: shouldRetryHeader(
    "`false` if the upstream refused the request with a 4xx: it would refuse it again.",
  ),
};
const upstreamUnavailable = {
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
const timeout = errorResponse(
  "The upstream timed out (timeout)",
  "The upstream did not respond within 120000 ms.",
  { category: "timeout" },
);

export const predictionFailures = {
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
} satisfies ZodOpenApiResponsesObject;

const modelFailures: ZodOpenApiResponsesObject = {
  ...unauthorized,
  "413": errorResponse(
    "The upstream answered 413 (context_exceeded)",
    "The input exceeds the upstream model's context length.",
    { upstream_status: 413, upstream_body: "", category: "context_exceeded" },
  ),
  "429": { ...rateLimit, description: "The upstream's rate limit was reached (rate_limit)" },
  "502": { ...upstreamFailed, description: "The upstream failed (upstream)" },
  "503": { ...upstreamUnavailable, description: "The upstream is temporarily unavailable (unavailable)" },
  "504": timeout,
};

const exampleModel = {
  id: "presage-sandbox",
  object: "model",
  created: 1767225600,
  owned_by: "presage",
};

const sessionId = z
  .string()
  .regex(/^[!-~]{1,256}$/)
  .optional();
/** The headers of requests that a model answers. */
const predictionHeaders = z.object({
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
  "x-session-id": sessionId.meta({
    description:
      "Requests with the same value go to the same replica of the model, which has their prefix cached. It is forwarded to the upstream. If absent, the part of the prompt that stays the same through a trajectory decides.",
    example: "rollout-17",
  }),
  "x-smg-routing-key": sessionId.meta({
    description:
      "The same, under the name that SGLang's gateway has for it. `x-session-id` takes precedence.",
    example: "rollout-17",
  }),
});

/** A prediction's response says who answered, and when. */
function answered<Described extends object>(described: Described) {
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

const completion = response(
  "The upstream's completion, byte for byte. Only `choices` is guaranteed",
  ChatCompletionResponse.or(
    z.looseObject({
      choices: z.array(z.unknown()).min(1).meta({ description: "The generated messages." }),
    }),
  ),
  {
    id: "chatcmpl-f3fa6abd-4008-44be-b151-71c0e129d47e",
    object: "chat.completion",
    created: 1795319207,
    model: "presage-sandbox",
    choices: [
      {
        index: 0,
        message: { role: "assistant", content: "You open the fridge." },
        finish_reason: "stop",
      },
    ],
    usage: { prompt_tokens: 22, completion_tokens: 5, total_tokens: 27 },
  },
);

/** In what the operations of the two kinds of servers differ. */
const chats = {
  strict: {
    Request: ChatCompletionRequest,
    streaming: "Streaming is not supported.",
    refused: "`stream: true`",
    events: {},
  },
  openai: {
    Request: OpenAiChatCompletionRequest,
    streaming: "With `stream` the finished completion is sent as server-sent events.",
    refused: "`stream: true` within `params`",
    events: {
      "text/event-stream": {
        schema: { type: "string" as const },
        example: "data: {…}\n\ndata: [DONE]\n\n",
      },
    },
  },
};

/** The operation of a server with this `PRESAGE_CHAT_COMPATIBILITY`. */
export function chatOperation(chatCompatibility: Settings["chatCompatibility"]): ZodOpenApiOperationObject {
  const { Request, streaming, refused, events } = chats[chatCompatibility];
  return operation("completeChat", "prediction", "Complete a chat from an interaction or from messages", {
    description: `OpenAI's chat completions. With \`messages\` the request is forwarded to the upstream; with \`interaction\`, the prompt is composed as for \`POST /v1/predict\`. ${streaming}`,
    requestParams: { header: predictionHeaders },
    requestBody: body(Request, {
      messages: [
        { role: "system", content: "You simulate a house." },
        {
          role: "user",
          content: "State: You are in the kitchen. The fridge is closed.\n\nAction: open fridge",
        },
      ],
      temperature: 0,
      max_tokens: 256,
    }),
    responses: {
      "200": answered({ ...completion, content: { ...completion.content, ...events } }),
      "400": errorResponse(
        `The request is not supported, for example ${refused}`,
        "Streaming is not supported.",
      ),
      ...predictionFailures,
    },
  });
}

export const predictionPaths: ZodOpenApiPathsObject = {
  "/v1/predict": {
    post: operation("predict", "prediction", "Predict the next state", {
      description:
        "Composes a prompt from the context and the interaction, has the world model complete it, and returns the predicted next state. Errors of the upstream have a `category` that says what a caller can do about them.",
      requestParams: { header: predictionHeaders },
      requestBody: body(WorldModelRequest, {
        context: { environment_state: "A kitchen with a fridge. An apple is in the fridge." },
        interaction: {
          state: "You are in the kitchen. The fridge is closed.",
          action: "open fridge",
        },
        params: { temperature: 0, max_tokens: 256 },
      }),
      responses: {
        "200": answered(
          response(
            "The prediction, with `messages` if debug fields are enabled",
            WorldModelPrediction.or(WorldModelResponse),
            {
              response: { role: "assistant", content: "You open the fridge." },
              reasoning: null,
              finish_reason: "stop",
              usage: { prompt_tokens: 34, completion_tokens: 5 },
              matched_stop: null,
            },
          ),
        ),
        ...predictionFailures,
      },
    }),
  },
  "/v1/models": {
    get: operationWithOwnFailures("listModels", "prediction", "List the upstream's models", {
      description:
        "Lists the models that the upstream serves, as OpenAI's clients expect it. With a file of deployments, these come first, followed by the default one's models.",
      responses: {
        "200": response(
          "The upstream's list, unchanged where there is one deployment",
          ModelListResponse.or(
            z.looseObject({ data: z.array(z.unknown()).meta({ description: "The models." }) }),
          ),
          {
            object: "list",
            data: [exampleModel],
          },
        ),
        ...modelFailures,
      },
    }),
  },
  "/v1/models/{id}": {
    get: operationWithOwnFailures("getModel", "prediction", "Get one of the upstream's models", {
      description: "Shows one of the models in `GET /v1/models`, as OpenAI's clients expect it.",
      requestParams: { path: ModelPath },
      responses: {
        "200": response("The model, as the upstream lists it", Model, exampleModel),
        ...modelFailures,
        "404": errorResponse("The upstream lists no model with this id", "The upstream lists no such model."),
      },
    }),
  },
};
