import type { WorldModelPrediction, WorldModelRequest, WorldModelResponse } from "@presage/contract";
import type { CallOptions } from "../call.ts";
import type { Transport } from "../transport.ts";

/** A prediction; with the prompt as sent if the server enables debug fields. */
export type Prediction = WorldModelPrediction & Partial<Pick<WorldModelResponse, "messages">>;

export interface PredictOptions extends CallOptions {
  /** Name of the deployment that is asked. Absent: the default one. The response's header `x-presage-deployment` says who answered. */
  deployment?: string | undefined;
  /** Calls with the same id go to the same replica, where their prefix is in memory. 1 to 256 visible ASCII characters. */
  sessionId?: string | undefined;
  /** The header `Cache-Control`, where the deployment keeps completions: `no-store`, `no-cache` or `max-age=SECONDS`. */
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
