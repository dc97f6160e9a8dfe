import { expect, test } from "bun:test";
import { ErrorResponse } from "@presage/contract";
import { eventually } from "../../support/eventually.ts";
import { freePort } from "../../support/free-port.ts";
import { prediction } from "../../support/presage/presage-with-raw-upstream.ts";
import { type SpawnedPresage, spawnPresage } from "../../support/presage/spawn-presage.ts";
import { upstreamClients, upstreamHost } from "../../support/upstream/as-replicas.ts";
import { selfSignedCertificate } from "../../support/upstream/self-signed-certificate.ts";
import { completion } from "../../support/upstream/upstream.ts";

/** Presage with an unreachable upstream. */
async function before(url: string, more: Record<string, string> = {}): Promise<SpawnedPresage> {
  return await spawnPresage({
    PRESAGE_DATABASE_URL: "sqlite::memory:",
    PRESAGE_UPSTREAM_URL: url,
    PRESAGE_UPSTREAM_MODEL: "test-model",
    ...more,
  });
}

const predict = (presage: SpawnedPresage) => presage.call("POST", "/v1/predict", prediction);

/** The log's lines about the upstream, once there are `lines` of them. */
async function outagesOf(presage: SpawnedPresage, lines: number) {
  const read = async () =>
    (await presage.stdout())
      .split("\n")
      .filter((line) => line.includes("the upstream "))
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  return await eventually(read, (found) => found.length >= lines);
}

async function unreachableCounts(presage: SpawnedPresage): Promise<string[]> {
  const text = await (await presage.call("GET", "/metrics")).text();
  return text.split("\n").filter((line) => line.startsWith("presage_upstream_unreachable_total"));
}

test.each(upstreamClients)(
  "over %s, callers get one text; the log and the metrics say why the upstream is unreachable",
  async (client) => {
    const https = Bun.serve({
      hostname: upstreamHost,
      port: 0,
      tls: selfSignedCertificate(),
      fetch: () => Response.json(completion("Open.")),
    });
    const plain = Bun.serve({
      hostname: upstreamHost,
      port: 0,
      fetch: () => Response.json(completion("Open.")),
    });
    const reasons = [
      ["refused", `http://127.0.0.1:${await freePort()}/v1`],
      ["name", "http://nowhere.invalid/v1"],
      ["certificate", `https://localhost:${https.port}/v1`],
      ["tls", `https://localhost:${plain.port}/v1`],
    ] as const;
    await Promise.all(
      reasons.map(async ([reason, url]) => {
        await using presage = await before(url, {
          PRESAGE_UPSTREAM_CLIENT: client,
          PRESAGE_UPSTREAM_RETRIES: "1",
        });
        const answers = await Promise.all(Array.from({ length: 5 }, () => predict(presage)));
        for (const answer of answers) {
          expect(answer.status).toBe(503);
          expect(ErrorResponse.parse(await answer.json())).toEqual({
            detail: "The upstream cannot be reached.",
            category: "unavailable",
          });
        }
        expect(await outagesOf(presage, 1)).toMatchObject([
          { level: 40, upstream: "predictions", reason, code: expect.stringMatching(/^[A-Z_]+$/) },
        ]);
        expect(await unreachableCounts(presage)).toEqual([
          `presage_upstream_unreachable_total{upstream="predictions",reason="${reason}"} 5`,
        ]);
      }),
    );
    await https.stop(true);
    await plain.stop(true);
  },
);

test.each(upstreamClients)("over %s, an outage is reported once, and so is its end", async (client) => {
  const port = await freePort();
  await using presage = await before(`http://127.0.0.1:${port}/v1`, {
    PRESAGE_UPSTREAM_CLIENT: client,
    PRESAGE_UPSTREAM_RETRIES: "0",
  });
  for (let call = 0; call < 20; call++) expect((await predict(presage)).status).toBe(503);
  const upstream = Bun.serve({
    hostname: upstreamHost,
    port,
    fetch: () => Response.json(completion("Open.")),
  });
  for (let call = 0; call < 20; call++) expect((await predict(presage)).status).toBe(200);
  const outages = await eventually(
    async () => {
      expect((await predict(presage)).status).toBe(200);
      return await outagesOf(presage, 1);
    },
    ({ length }) => length > 1,
  );
  await upstream.stop(true);
  expect(outages.map(({ msg }) => msg)).toEqual([
    "the upstream cannot be reached",
    "the upstream answers again",
  ]);
});

test("the judges' upstream is separate in the log and in the metrics", async () => {
  await using presage = await before(`http://127.0.0.1:${await freePort()}/v1`);
  const evaluated = await presage.call("POST", "/v1/evaluate", {
    evaluators: [{ evaluator: "judge", profile_name: "system:is-concise" }],
    evaluated_model_input: "Open the door.",
    evaluated_model_output: "It is open.",
  });
  expect(evaluated.status).toBe(200);
  expect(await outagesOf(presage, 1)).toMatchObject([{ upstream: "judges", reason: "refused" }]);
  const [count] = await unreachableCounts(presage);
  expect(count).toStartWith('presage_upstream_unreachable_total{upstream="judges",reason="refused"}');
});
