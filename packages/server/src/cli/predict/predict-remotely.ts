import { ErrorCategory, type ErrorResponse, type WorldModelPrediction } from "@presage/contract";
import { UpstreamError } from "../../errors.ts";
import { baseOf } from "../base-of.ts";
import { CommandError } from "../command-error.ts";
import type { Predict } from "./predict-command.ts";

/** Predictions by another Presage, over HTTP. */
export function predictRemotely(server: string, apiKey: string): Predict {
  const url = `${baseOf(server)}/v1/predict`;
  const headers = { "content-type": "application/json", "x-api-key": apiKey };
  const post = { method: "POST", headers, timeout: false };
  return async (request) => {
    const response = await fetch(url, { ...post, body: JSON.stringify(request) }).catch((cause: unknown) => {
      throw new UpstreamError("unavailable", `${server} cannot be reached.`, { cause });
    });
    if (response.ok) return (await response.json()) as WorldModelPrediction;
    if (response.status === 401) throw new CommandError(`${server} refuses the key in PRESAGE_API_KEY`);
    const { detail, category } = (await response.json().catch(() => ({}))) as Partial<ErrorResponse>;
    const known = ErrorCategory.safeParse(category);
    throw new UpstreamError(
      known.success ? known.data : "upstream",
      `${server} answered ${response.status}: ${JSON.stringify(detail)}`,
    );
  };
}
