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
import { body, invalidRequest, operation, response, unauthorized } from "../docs/describe.ts";

const predictionFailures: ZodOpenApiResponsesObject = {
  ...unauthorized,
  ...invalidRequest,
  "413": response(
    "The input exceeds the model's context length (context_exceeded), or the body is too large",
    ErrorResponse,
  ),
  "429": response(
    "The rate limit of the upstream, the key, its user or its account was reached (rate_limit)",
    ErrorResponse,
  ),
  "502": response("The upstream failed in another way (upstream)", ErrorResponse),
  "503": response("The upstream or Presage is temporarily unavailable (unavailable)", ErrorResponse),
  "504": response("The upstream timed out (timeout)", ErrorResponse),
};

export const predictionPaths: ZodOpenApiPathsObject = {
  "/v1/predict": {
    post: operation("predict", "prediction", "Predict the next state", {
      requestBody: body(WorldModelRequest),
      responses: {
        "200": response(
          "The prediction, with `messages` if debug fields are enabled",
          WorldModelPrediction.or(WorldModelResponse),
        ),
        ...predictionFailures,
      },
    }),
  },
  "/v1/chat/completions": {
    post: operation("completeChat", "prediction", "Complete a chat from an interaction or from messages", {
      requestBody: body(ChatCompletionRequest),
      responses: {
        "200": response(
          "The upstream's completion, byte for byte. Only `choices` is guaranteed",
          ChatCompletionResponse.or(z.looseObject({ choices: z.array(z.unknown()).min(1) })),
        ),
        "400": response("The request is not supported, for example `stream: true`", ErrorResponse),
        ...predictionFailures,
      },
    }),
  },
  "/v1/models": {
    get: operation("listModels", "prediction", "List the upstream's models", {
      responses: {
        "200": response(
          "The upstream's list, unchanged",
          ModelListResponse.or(z.looseObject({ data: z.array(z.unknown()) })),
        ),
        ...unauthorized,
        "413": response("The upstream answered 413 (context_exceeded)", ErrorResponse),
        "429": response("The upstream's rate limit was reached (rate_limit)", ErrorResponse),
        "502": response("The upstream failed", ErrorResponse),
        "503": response("The upstream is temporarily unavailable", ErrorResponse),
        "504": response("The upstream timed out", ErrorResponse),
      },
    }),
  },
};
