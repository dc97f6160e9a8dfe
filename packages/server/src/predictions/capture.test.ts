import { expect, test } from "bun:test";
import { noKeyLimits } from "../platform/limits/admission.ts";
import { createByteBudget } from "../platform/limits/memory.ts";
import { storeUnavailable } from "../platform/storage/store-error.ts";
import { type CaptureOptions, captureOf, createCapture } from "./capture.ts";
import type { NewPrediction } from "./stored-rows.ts";

function predictionOf(output: string): NewPrediction {
  return {
    id: Bun.randomUUIDv7(),
    accountId: "account",
    createdAt: 1,
    apiKeyId: undefined,
    requestId: "request",
    context: null,
    asked: {},
    deployment: "default",
    latencyMicros: 1,
    outcome: {
      status: "success",
      answer: {
        output,
        reasoning: null,
        finishReason: "stop",
        deployment: "default",
        model: null,
        sentModel: null,
        replica: null,
        promptTokens: 0,
        cachedTokens: 0,
        completionTokens: 0,
      },
    },
  };
}

function captureWith(write: CaptureOptions["write"], maxBytes = 80_000_000) {
  const memory = createByteBudget(maxBytes);
  const written: number[] = [];
  const counts = { written: 0, dropped: 0 };
  const dropped: { error: unknown; isFirst: boolean }[] = [];
  const failures: boolean[] = [];
  const capture = createCapture({
    setting: "all",
    memory,
    intervalMs: 1_000,
    async write(predictions) {
      await write(predictions);
      written.push(predictions.length);
    },
    onFailure: (_, isFirst) => failures.push(isFirst),
    onDropped: (error, isFirst) => dropped.push({ error, isFirst }),
    count: (outcome, predictions) => {
      counts[outcome] += predictions;
    },
  });
  const keep = (output: string) => {
    const hold = capture.hold(0);
    if (hold !== undefined) capture.store(hold, predictionOf(output));
  };
  return { capture, memory, keep, written, counts, dropped, failures };
}

function callOfKey(capture: string | null) {
  const proof = {
    kind: "key" as const,
    keyId: "key",
    keyName: "key",
    expiresAt: null,
    limits: noKeyLimits,
    scopes: null,
    capture,
  };
  return { caller: { proof }, exchange: { requestId: "id" } };
}

test("a key's setting wins over the server's", async () => {
  const { capture } = captureWith(async () => {});
  expect(capture.decide(callOfKey(null))).toBe("all");
  expect(capture.decide(callOfKey("off"))).toBe("off");
  expect(capture.decide(callOfKey("failures"))).toBe("failures");
  await capture.stop();
});

test("what is pending is written at the end, a part at a time, and its memory is released", async () => {
  const { capture, memory, keep, written, counts } = captureWith(async () => {});
  for (let at = 0; at < 500; at += 1) keep("x");
  expect(memory.reservedBytes()).toBe(capture.heldBytes());
  expect(capture.heldBytes()).toBeGreaterThan(500_000);
  await capture.stop();
  expect(written).toEqual([200, 200, 100]);
  expect(counts).toEqual({ written: 500, dropped: 0 });
  expect([capture.heldBytes(), memory.reservedBytes()]).toEqual([0, 0]);
});

test("what is released is not written", async () => {
  const { capture, memory, written } = captureWith(async () => {});
  const hold = capture.hold(1_000);
  if (hold !== undefined) capture.release(hold);
  await capture.stop();
  expect([written, memory.reservedBytes()]).toEqual([[], 0]);
});

test("while the store stalls, what does not fit is dropped, and told once", async () => {
  const stalled = Promise.withResolvers<void>();
  const { capture, keep, counts, dropped } = captureWith(() => stalled.promise, 8_000_000);
  for (let at = 0; at < 30; at += 1) keep("x".repeat(50_000));
  expect(capture.heldBytes()).toBeLessThanOrEqual(1_000_000);
  expect(counts.dropped).toBe(21);
  expect(dropped.map(({ isFirst }) => isFirst)).toEqual([true, ...Array(20).fill(false)]);
  stalled.resolve();
  await capture.stop();
  expect(counts).toEqual({ written: 9, dropped: 21 });
});

test("a batch that the store cannot take is kept for the next one", async () => {
  let isDown = true;
  const { capture, keep, counts, failures } = captureWith(async () => {
    if (isDown) throw storeUnavailable(new Error("down"));
  });
  // Long enough to be written immediately.
  keep("x".repeat(3_000_000));
  await Bun.sleep(10);
  expect([counts.written, failures]).toEqual([0, [true]]);
  isDown = false;
  keep("y");
  await capture.stop();
  expect(counts).toEqual({ written: 2, dropped: 0 });
  expect(capture.heldBytes()).toBe(0);
});

test("a prediction that the store refuses is dropped instead of being tried for ever", async () => {
  const refused = new Error("refused");
  const { capture, keep, counts, dropped } = captureWith(async () => {
    throw refused;
  });
  keep("x");
  await capture.stop();
  expect(counts).toEqual({ written: 0, dropped: 1 });
  expect(dropped).toEqual([{ error: refused, isFirst: true }]);
  expect(capture.heldBytes()).toBe(0);
});

test("what cannot be written at the end counts as dropped", async () => {
  const { capture, keep, counts } = captureWith(async () => {
    throw storeUnavailable(new Error("down"));
  });
  keep("x");
  await capture.stop();
  expect(counts).toEqual({ written: 0, dropped: 1 });
});

test("words decide for every request", () => {
  for (const setting of ["off", "failures", "all"] as const)
    expect(captureOf(setting, "request-1")).toBe(setting);
});

test("a share keeps about that many requests, and the same ones every time", () => {
  const ids = Array.from({ length: 10_000 }, (_, at) => `request-${at}`);
  const keptAt = (share: string) => ids.filter((id) => captureOf(share, id) === "all");
  const some = keptAt("0.1");
  expect(some.length).toBeWithin(850, 1_150);
  expect(keptAt("0.1")).toEqual(some);
  // The ids of a smaller share are among those of a larger one.
  expect(new Set(keptAt("0.2")).isSupersetOf(new Set(some))).toBe(true);
  expect(keptAt("0")).toEqual([]);
  expect(keptAt("1")).toEqual(ids);
});

test("anybody can tell which requests are kept, by the SHA-256 of their ids", () => {
  // printf request-1 | sha256sum: the first 8 digits as a fraction of 2^32.
  const digits = new Bun.CryptoHasher("sha256").update("request-1").digest("hex").slice(0, 8);
  const fraction = Number.parseInt(digits, 16) / 2 ** 32;
  expect(captureOf(String(fraction - 0.001), "request-1")).toBe("off");
  expect(captureOf(String(fraction + 0.001), "request-1")).toBe("all");
});
