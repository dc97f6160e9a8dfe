import { expect, test } from "bun:test";
import { UsageResponse } from "@presage/contract";
import { eventually } from "../support/eventually.ts";
import { startPresage } from "../support/presage/presage.ts";
import { chatRequest, prediction } from "../support/presage/presage-with-raw-upstream.ts";
import { onAnyDatabase } from "../support/store/databases.ts";
import { completion, startUpstream } from "../support/upstream/upstream.ts";

/** As JSON texts: JavaScript cannot write some of these numbers. */
const nonsense = [
  "-5",
  "-1e300",
  "1e300",
  "1e400",
  "0.5",
  "9007199254740993",
  "1000000001",
  '"7"',
  "null",
  "{}",
];

function answerWith(count: string): string {
  return JSON.stringify(completion("Open.", { usage: "COUNTS" })).replace(
    '"COUNTS"',
    `{"prompt_tokens":${count},"completion_tokens":${count}}`,
  );
}

onAnyDatabase((database) => {
  test("usage of an upstream that counts nothing is null, and that of failures 0", async () => {
    const upstream = startUpstream(() => Response.json(completion("Open.", { usage: undefined })));
    const presage = await startPresage({
      PRESAGE_DATABASE_URL: await database.create(),
      PRESAGE_UPSTREAM_URL: upstream.url,
    });
    const predicted = await presage.call("POST", "/v1/predict", prediction);
    expect(await predicted.json()).toMatchObject({ usage: { prompt_tokens: 0, completion_tokens: 0 } });
    await presage.call("POST", "/v1/chat/completions", {});
    const readUsage = async () =>
      UsageResponse.parse(await (await presage.call("GET", "/v1/usage")).json()).data;
    const rows = await eventually(readUsage, ({ length }) => length === 2);
    expect(rows).toMatchObject([
      { operation: "chat", prompt_tokens: 0, completion_tokens: 0, cached_tokens: 0 },
      { operation: "predict", prompt_tokens: null, completion_tokens: null, cached_tokens: null },
    ]);
    await presage.stop();
    await upstream.stop();
  });

  test("impossible token counts are ignored, and break neither metrics nor usage", async () => {
    const upstream = startUpstream();
    const presage = await startPresage({
      PRESAGE_DATABASE_URL: await database.create(),
      PRESAGE_UPSTREAM_URL: upstream.url,
      PRESAGE_UPSTREAM_MODEL: "test-model",
    });
    for (const count of nonsense) {
      const answer = answerWith(count);
      upstream.answer = () => new Response(answer, { headers: { "content-type": "application/json" } });
      const predicted = await presage.call("POST", "/v1/predict", prediction);
      const { usage } = (await predicted.json()) as { usage: unknown };
      expect([count, predicted.status, usage]).toEqual([
        count,
        200,
        { prompt_tokens: 0, completion_tokens: 0 },
      ]);
      const chatted = await presage.call("POST", "/v1/chat/completions", chatRequest);
      expect([chatted.status, await chatted.text()]).toEqual([200, answer]);
    }
    upstream.answer = () => Response.json(completion("Open."));
    await presage.call("POST", "/v1/predict", prediction);

    const metrics = await presage.call("GET", "/metrics");
    expect(metrics.status).toBe(200);
    const lines = (await metrics.text())
      .split("\n")
      .filter((line) => line.startsWith("presage_tokens_total"));
    expect(lines.sort()).toEqual([
      'presage_tokens_total{kind="completion"} 7',
      'presage_tokens_total{kind="prompt"} 11',
    ]);
    const readUsage = async () =>
      UsageResponse.parse(await (await presage.call("GET", "/v1/usage")).json()).data.find(
        ({ operation }) => operation === "predict",
      );
    const isWritten = (row: Awaited<ReturnType<typeof readUsage>>) => row?.requests === nonsense.length + 1;
    expect(await eventually(readUsage, isWritten)).toMatchObject({
      requests: nonsense.length + 1,
      prompt_tokens: 11,
      completion_tokens: 7,
    });
    await presage.stop();
    await upstream.stop();
  }, 300_000);
});
