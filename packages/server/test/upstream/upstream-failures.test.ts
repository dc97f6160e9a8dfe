import { describe, expect, test } from "bun:test";
import { z } from "zod";
import { prediction } from "../support/presage/presage-with-raw-upstream.ts";
import { usePresage } from "../support/presage/use-presage.ts";
import { upstreamClients } from "../support/upstream/as-replicas.ts";
import { useUpstream } from "../support/upstream/use-upstream.ts";

const Failure = z.object({
  id: z.string(),
  server: z.string(),
  upstream_status: z.int(),
  upstream_body: z.string(),
  expect: z.object({ status: z.int(), category: z.string() }),
});

/** Recorded responses of real servers, and the error that each becomes. */
const lines = (await Bun.file(new URL("upstream-failures.jsonl", import.meta.url)).text()).trim().split("\n");

describe.each(upstreamClients)("over %s", (client) => {
  const upstream = useUpstream();
  const environment = {
    PRESAGE_UPSTREAM_CLIENT: client,
    PRESAGE_UPSTREAM_URL: upstream.url,
    PRESAGE_UPSTREAM_MODEL: "test-model",
    PRESAGE_UPSTREAM_RETRIES: "0",
  };
  const presage = usePresage(environment);
  const openAi = usePresage({ ...environment, PRESAGE_CHAT_COMPATIBILITY: "openai" });
  const messages = [{ role: "developer", content: "Be brief." }];

  describe("A recorded failure becomes its error:", () => {
    for (const line of lines) {
      const {
        id,
        server,
        upstream_status,
        upstream_body,
        expect: expected,
      } = Failure.parse(JSON.parse(line));
      test(`${id}, ${server}'s ${upstream_status} becomes ${expected.status} ${expected.category}`, async () => {
        upstream.answer = () => new Response(upstream_body, { status: upstream_status });
        for (const response of [
          await presage.call("POST", "/v1/predict", prediction),
          await presage.call("POST", "/v1/chat/completions", prediction),
          await openAi.call("POST", "/v1/predict", prediction),
          await openAi.call("POST", "/v1/chat/completions", { messages }),
          await openAi.call("POST", "/v1/chat/completions", { messages, stream: true }),
        ]) {
          expect(response.status).toBe(expected.status);
          expect(await response.json()).toMatchObject({
            category: expected.category,
            upstream_status,
            upstream_body,
          });
        }
      });
    }
  });
});
