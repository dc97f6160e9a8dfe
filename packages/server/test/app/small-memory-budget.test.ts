import { describe, expect, test } from "bun:test";
import { connect, type Socket } from "node:net";
import { eventually, expectEventually } from "../support/eventually.ts";
import { testKey } from "../support/presage/presage.ts";
import { readMetric } from "../support/presage/read-metric.ts";
import { usePresage } from "../support/presage/use-presage.ts";
import { completion } from "../support/upstream/upstream.ts";
import { useUpstream } from "../support/upstream/use-upstream.ts";

const megabyte = 1_000_000;
/** The minimum that the documentation recommends for bodies of 16 MB. */
const budget = 128 * 1024 * 1024;

/** A response whose decompressed pieces fill the budget exactly. */
const bomb = () =>
  new Response(Bun.gzipSync(new Uint8Array(100 * 1024 * 1024)), { headers: { "content-encoding": "gzip" } });

describe("With a memory budget of 128 MiB", () => {
  const upstream = useUpstream();
  const presage = usePresage({
    PRESAGE_UPSTREAM_URL: upstream.url,
    PRESAGE_UPSTREAM_MODEL: "test-model",
    PRESAGE_MEMORY_BUDGET_BYTES: String(budget),
  });

  const reservedBytes = () => readMetric(presage, "presage_memory_held_bytes");
  const nothingHeld = () => eventually(reservedBytes, (held) => held === 0, 20_000);

  /** Announces a body and sends only its beginning. `onHead` is called once the server has begun to handle the request. */
  function beginBody(path: string, announcedBytes: number, sentBytes: number, onHead?: () => void): Socket {
    const { hostname, port } = new URL(presage.url);
    const socket = connect(Number(port), hostname);
    socket.on("error", () => {});
    socket.once("data", () => onHead?.());
    socket.write(
      `POST ${path} HTTP/1.1\r\nhost: a\r\nx-api-key: ${testKey}\r\nexpect: 100-continue\r\ncontent-length: ${announcedBytes}\r\n\r\n`,
    );
    if (sentBytes > 0) socket.write(`"${"x".repeat(sentBytes - 1)}`);
    return socket;
  }

  test("bodies that are announced but never sent reserve no memory", async () => {
    let begun = 0;
    const sockets = [1, 8, 15].flatMap((size) =>
      Array.from({ length: 40 }, () =>
        beginBody("/v1/evaluation-results/batch", size * megabyte, 0, () => {
          begun += 1;
        }),
      ),
    );
    await expectEventually(() => begun, sockets.length);
    expect(await reservedBytes()).toBeLessThan(megabyte);
    const state = "x".repeat(megabyte);
    const { status } = await presage.call("POST", "/v1/predict", { interaction: { state, action: "look" } });
    expect(status).toBe(200);
    for (const socket of sockets) socket.destroy();
  });

  test("a partly sent body counts with what has arrived", async () => {
    const socket = beginBody("/v1/evaluation-results/batch", 15 * megabyte, 2 * megabyte);
    const isCounted = (held: number) => held >= 12 * megabyte;
    const held = await eventually(reservedBytes, isCounted, 5_000);
    expect(held).toBeGreaterThanOrEqual(12 * megabyte);
    expect(held).toBeLessThan(13 * megabyte);
    socket.destroy();
    expect(await nothingHeld()).toBe(0);
  });

  test.each([
    [15.9, 1],
    [12, 2],
    [0.8, 20],
  ])(
    "an evaluation of %p MB by %p evaluators fits, including the storing of its results",
    async (size, evaluators) => {
      const response = await presage.call("POST", "/v1/evaluate", {
        evaluators: Array.from({ length: evaluators }, () => ({ evaluator: "exact-match" })),
        evaluated_model_output: "x".repeat(size * megabyte),
        evaluated_model_gold_answer: "y",
      });
      expect(response.status).toBe(200);
      await response.arrayBuffer();
      expect(await nothingHeld()).toBe(0);
    },
  );

  test("an import of nearly 16 MB fits", async () => {
    const output = "x".repeat(15.7 * megabyte);
    const { status } = await presage.call("POST", "/v1/evaluation-results/batch", {
      evaluation_results: [{ evaluator_id: "x", pass: true, evaluated_model_output: output }],
    });
    expect(status).toBe(201);
    expect(await nothingHeld()).toBe(0);
  });

  test.each([
    ["as it is", () => Response.json(completion("x".repeat(30 * megabyte)))],
    ["decompressed", () => bomb()],
  ])("a response that is too long for it %s is an upstream error", async (_, answer) => {
    upstream.answer = answer;
    const predicted = await presage.call("POST", "/v1/predict", {
      interaction: { state: "a hall", action: "look" },
    });
    expect([predicted.status, await predicted.json()]).toEqual([
      502,
      expect.objectContaining({
        category: "upstream",
        detail: expect.stringContaining("PRESAGE_MEMORY_BUDGET_BYTES"),
      }),
    ]);
    const judged = await presage.call("POST", "/v1/evaluate", {
      evaluators: [{ evaluator: "judge", profile_name: "system:is-concise" }],
      evaluated_model_input: "Where am I?",
      evaluated_model_output: "In a hall.",
    });
    expect(await judged.json()).toMatchObject({
      results: [{ status: "failed", error_message: expect.stringMatching(/^judge_error: /) }],
    });
    expect(await nothingHeld()).toBe(0);
  });
});
