import type {
  ChatCompletionRequest,
  ChatCompletionResponse,
  DeploymentListResponse,
  DeploymentStatus,
  Model,
  ModelListResponse,
  WorldModelPrediction,
  WorldModelRequest,
  WorldModelResponse,
} from "@presage/contract";
import type { CallOptions } from "../call.ts";
import { callsOf } from "../resource.ts";
import type { Transport } from "../transport.ts";

/** A prediction; with the prompt as sent if the server enables debug fields. */
export type Prediction = WorldModelPrediction & Partial<Pick<WorldModelResponse, "messages">>;

/** Options of `predict`. */
export interface PredictOptions extends CallOptions {
  /** Name of the deployment to ask; the default one if absent. The response's header `x-presage-deployment` says which one answered. */
  deployment?: string | undefined;
  /** Calls with the same id go to the same replica, where their prefix is in memory. 1 to 256 visible ASCII characters. */
  sessionId?: string | undefined;
  /** The header `Cache-Control`, for a deployment that caches completions: `no-store`, `no-cache` or `max-age=SECONDS`. */
  cacheControl?: string | undefined;
}

/** Predicts the environment's next state: `POST /v1/predict`. */
export type Predict = (request: WorldModelRequest, options?: PredictOptions) => Promise<Prediction>;

export function predict({ json }: Transport): Predict {
  return (body, { deployment, sessionId, cacheControl, ...options } = {}) => {
    const headers = {
      ...(deployment === undefined ? {} : { "x-presage-deployment": deployment }),
      ...(sessionId === undefined ? {} : { "x-session-id": sessionId }),
      ...(cacheControl === undefined ? {} : { "cache-control": cacheControl }),
    };
    return json({ method: "POST", path: "/v1/predict", body, headers, isRepeatable: true }, options);
  };
}

/** Chats in OpenAI's format. */
export interface ChatCompletions {
  /** Completes a chat, or predicts in that format: `POST /v1/chat/completions`. Returns the upstream's response. */
  create(request: ChatCompletionRequest, options?: CallOptions): Promise<ChatCompletionResponse>;
}

export function chatCompletions(transport: Transport): ChatCompletions {
  const { repeatable } = callsOf(transport);
  return { create: (body, options) => repeatable("POST", "/v1/chat/completions", options, body) };
}

/** The models that can be asked. */
export interface Models {
  /** Lists the upstream's models: `GET /v1/models`. */
  list(options?: CallOptions): Promise<Model[]>;
}

export function models(transport: Transport): Models {
  const { get } = callsOf(transport);
  return { list: async (options) => (await get<ModelListResponse>("/v1/models", options)).data };
}

/** The models behind the server, and their condition. */
export interface Deployments {
  /** Lists the models behind the server and, for the account `default`, their replicas: `GET /v1/deployments`. */
  list(options?: CallOptions): Promise<DeploymentStatus[]>;
}

export function deployments(transport: Transport): Deployments {
  const { get } = callsOf(transport);
  return { list: async (options) => (await get<DeploymentListResponse>("/v1/deployments", options)).data };
}
