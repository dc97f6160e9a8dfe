import {
  ChatCompletionRequest,
  ChatCompletionResponse,
  ErrorResponse,
  ModelListResponse,
  WorldModelPrediction,
  WorldModelRequest,
  WorldModelResponse,
} from "@presage/contract";
import { z } from "zod";
import type { ZodOpenApiPathsObject, ZodOpenApiResponsesObject } from "zod-openapi";
import { answer, body, notValid, operation, unauthenticated } from "../docs/describe.ts";

const predictionFailures: ZodOpenApiResponsesObject = {
  ...unauthenticated,
  ...notValid,
  "413": answer(
    "The input exceeds the model's context length (context_exceeded), or the body is too large",
    ErrorResponse,
  ),
  "429": answer(
    "The upstream's rate limit, or that of the key, its user or its account (rate_limit)",
    ErrorResponse,
  ),
  "502": answer("The upstream failed in another way (upstream)", ErrorResponse),
  "503": answer("The upstream or Presage is temporarily unavailable (unavailable)", ErrorResponse),
  "504": answer("The upstream timed out (timeout)", ErrorResponse),
};

export const predictionPaths: ZodOpenApiPathsObject = {
  "/v1/predict": {
    post: operation("predict", "prediction", "Predict the next state", {
      requestBody: body(WorldModelRequest),
      responses: {
        "200": answer(
          "The prediction; with `messages` where the deployment enables debug fields",
          WorldModelPrediction.or(WorldModelResponse),
        ),
        ...predictionFailures,
      },
    }),
  },
  "/v1/chat/completions": {
    post: operation("completeChat", "prediction", "Complete a chat, from an interaction or from messages", {
      requestBody: body(ChatCompletionRequest),
      responses: {
        "200": answer(
          "The upstream's completion, byte for byte, whatever it leaves out beside a choice with a message",
          ChatCompletionResponse.or(z.looseObject({ choices: z.array(z.unknown()).min(1) })),
        ),
        "400": answer("The request is not supported, for example `stream: true`", ErrorResponse),
        ...predictionFailures,
      },
    }),
  },
  "/v1/models": {
    get: operation("listModels", "prediction", "List the upstream's models", {
      responses: {
        "200": answer(
          "The upstream's list as it came, whatever it says of each model",
          ModelListResponse.or(z.looseObject({ data: z.array(z.unknown()) })),
        ),
        ...unauthenticated,
        "413": answer("The upstream's own 413 (context_exceeded)", ErrorResponse),
        "429": answer("The upstream's rate limit (rate_limit)", ErrorResponse),
        "502": answer("The upstream failed", ErrorResponse),
        "503": answer("The upstream is temporarily unavailable", ErrorResponse),
        "504": answer("The upstream timed out", ErrorResponse),
      },
    }),
  },
};
