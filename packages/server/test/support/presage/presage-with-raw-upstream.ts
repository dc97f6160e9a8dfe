import type { RawEnvironment } from "../../../src/config/values.ts";
import type { UpstreamClient } from "../upstream/as-replicas.ts";
import { type Behaviour, type RawUpstream, startRawUpstream } from "../upstream/raw-upstream.ts";
import { startPresage, type TestPresage, testKey } from "./presage.ts";

export interface PresageWithRawUpstream extends AsyncDisposable {
  presage: TestPresage;
  upstream: RawUpstream;
  /** One `POST /v1/predict`. */
  predict(signal?: AbortSignal): Promise<Response>;
  /** One `POST /v1/chat/completions`. */
  chat(signal?: AbortSignal): Promise<Response>;
}

export const prediction = { interaction: { state: "The door is closed.", action: "open door" } };
export const chatRequest = { messages: [{ role: "user", content: "Is the door open?" }] };

/** A server with a scripted upstream. It knows the model's name, so it requests only completions. */
export async function presageWithRawUpstream(
  behave: Behaviour,
  environment: RawEnvironment = {},
): Promise<PresageWithRawUpstream> {
  const upstream = await startRawUpstream(behave);
  const presage = await startPresage({
    PRESAGE_UPSTREAM_URL: upstream.url,
    PRESAGE_UPSTREAM_MODEL: "test-model",
    ...environment,
  });
  const post = (path: string, body: unknown, signal?: AbortSignal) =>
    fetch(presage.url + path, {
      method: "POST",
      headers: { "x-api-key": testKey },
      body: JSON.stringify(body),
      ...(signal === undefined ? {} : { signal }),
    });
  return {
    presage,
    upstream,
    predict: (signal) => post("/v1/predict", prediction, signal),
    chat: (signal) => post("/v1/chat/completions", chatRequest, signal),
    async [Symbol.asyncDispose]() {
      await presage.stop();
      await upstream.stop();
    },
  };
}

/** The same over one of the clients of upstreams, for `describe.each(upstreamClients)`. */
export function presageOver(client: UpstreamClient): typeof presageWithRawUpstream {
  return (behave, environment) =>
    presageWithRawUpstream(behave, { PRESAGE_UPSTREAM_CLIENT: client, ...environment });
}
