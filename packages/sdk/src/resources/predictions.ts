import type { WorldModelPrediction, WorldModelRequest, WorldModelResponse } from "@presage/contract";
import type { CallOptions } from "../call.ts";
import type { Transport } from "../transport.ts";

/** A prediction; with the prompt as sent if the server enables debug fields. */
export type Prediction = WorldModelPrediction & Partial<Pick<WorldModelResponse, "messages">>;

/** Predicts the environment's next state: `POST /v1/predict`. */
export type Predict = (request: WorldModelRequest, options?: CallOptions) => Promise<Prediction>;

export function predict({ json }: Transport): Predict {
  return (body, options) => json({ method: "POST", path: "/v1/predict", body, isRepeatable: true }, options);
}
