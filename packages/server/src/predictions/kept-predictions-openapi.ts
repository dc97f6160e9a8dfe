import {
  type KeptPrediction,
  KeptPredictionCountQuery,
  KeptPredictionCountResponse,
  KeptPredictionDeleteQuery,
  KeptPredictionDeleteResponse,
  KeptPredictionDetail,
  KeptPredictionListQuery,
  KeptPredictionListResponse,
  KeptPredictionPath,
  KeptPredictionValuesResponse,
  maxCountedPredictions,
} from "@presage/contract";
import type { ZodOpenApiPathsObject } from "zod-openapi";
import { errorResponse, noSuch, operation, page, response } from "../http/describe.ts";

const example: KeptPrediction = {
  id: "019aa5f6-7d10-7000-8c3e-0b6f5a2d9c41",
  source: "live",
  created_at: "2026-11-22T03:46:47.926Z",
  run_id: null,
  run_name: null,
  position: null,
  repeat: null,
  status: "success",
  error_category: null,
  deployment: "qwen-wm",
  model: "Qwen/Qwen3-8B-wm",
  replica: "http://10.0.0.1:30000/v1",
  finish_reason: "stop",
  prompt_tokens: 34,
  cached_tokens: 0,
  completion_tokens: 5,
  latency_ms: 412.7,
  api_key_id: "01a2015d-17f6-75b4-a7a7-ccd9f62a3a59",
  api_key_name: "training cluster",
  request_id: "0b9a1f4e-6f0c-4b61-9a3e-52b0d1a7c9de",
};

export const keptPredictionPaths: ZodOpenApiPathsObject = {
  "/v1/predictions": {
    get: operation("listPredictions", "kept predictions", "List kept predictions", {
      description:
        "Lists the account's predictions that were kept: of runs, and of live traffic as `PRESAGE_CAPTURE` or the key's `capture` says. They are stored about a second after their response. Without their texts, except the beginning that `text_limit` requests.",
      requestParams: { query: KeptPredictionListQuery },
      responses: {
        "200": response("The predictions, newest first", KeptPredictionListResponse, page(example)),
      },
    }),
    delete: operation("deletePredictions", "kept predictions", "Delete kept predictions of live traffic", {
      description:
        "Deletes the account's kept predictions of live traffic from before a time, with their prompts; the other parameters narrow them down. One request deletes for about 5 s; repeat it while `has_more` is true.",
      requestParams: { query: KeptPredictionDeleteQuery },
      responses: {
        "200": response("How many were deleted", KeptPredictionDeleteResponse, {
          deleted: 1200,
          has_more: false,
        }),
      },
    }),
  },
  "/v1/predictions/count": {
    get: operation("countPredictions", "kept predictions", "Count kept predictions", {
      description: "Says how many kept predictions a list or a deletion with the same filters has.",
      requestParams: { query: KeptPredictionCountQuery },
      responses: {
        "200": response("How many match", KeptPredictionCountResponse, { count: 1200, has_more: false }),
      },
    }),
  },
  "/v1/predictions/values": {
    get: operation("listPredictionValues", "kept predictions", "List the values that filters can take", {
      description: `Counts, for each filter, the values of the account's newest ${maxCountedPredictions.toLocaleString("en")} kept predictions that match all other filters.`,
      requestParams: { query: KeptPredictionCountQuery },
      responses: {
        "200": response("The values with their counts", KeptPredictionValuesResponse, {
          source: [{ value: "live", count: 1200 }],
          status: [
            { value: "success", count: 1188 },
            { value: "failed", count: 12 },
          ],
          category: [{ value: "timeout", count: 12 }],
          deployment: [{ value: "qwen-wm", count: 1200 }],
          model: [{ value: "Qwen/Qwen3-8B-wm", count: 1200 }],
          api_key_id: [
            { value: "01a2015d-17f6-75b4-a7a7-ccd9f62a3a59", name: "training cluster", count: 1200 },
          ],
        }),
      },
    }),
  },
  "/v1/predictions/{id}": {
    get: operation("getPrediction", "kept predictions", "Get a kept prediction", {
      description:
        "Shows a kept prediction with its prompt and response. A run's prompts are read from its dataset.",
      requestParams: { path: KeptPredictionPath },
      responses: {
        "200": response("The prediction", KeptPredictionDetail, {
          ...example,
          context: { environment_state: "A kitchen with a fridge. An apple is in the fridge." },
          interaction: { state: "You are in the kitchen. The fridge is closed.", action: "open fridge" },
          messages: null,
          params: { temperature: 0 },
          requested_model: null,
          output: "You open the fridge.",
          reasoning: null,
          error_message: null,
        }),
        ...noSuch("prediction"),
      },
    }),
    delete: operation("deletePrediction", "kept predictions", "Delete a kept prediction", {
      description: "Deletes one kept prediction of live traffic, with its prompt.",
      requestParams: { path: KeptPredictionPath },
      responses: {
        "204": { description: "The prediction is deleted" },
        ...noSuch("prediction"),
        "409": errorResponse(
          "The prediction belongs to a run or an episode, and goes with it",
          "This prediction belongs to a run. Delete the run.",
        ),
      },
    }),
  },
};
