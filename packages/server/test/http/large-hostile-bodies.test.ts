import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { eventually } from "../support/eventually.ts";
import { freePort } from "../support/free-port.ts";
import {
  bodiesWithLongResponses,
  type HostileBody,
  longBodies,
  shortBodies,
} from "../support/hostile/hostile-bodies.ts";
import { type SpawnedPresage, spawnPresage } from "../support/presage/spawn-presage.ts";

const mebibyte = 1024 * 1024;
/** Room for what stands around the value in each shape. */
const underMebibytes = (count: number) => count * mebibyte - 1024;
/** `HOSTILE_SHAPES=all` tries every value in every place, which takes minutes; otherwise each value and each place has its turn. */
const isWhole = process.env.HOSTILE_SHAPES === "all";
/** Alone, a server answers within 300 ms; other tests share the processors with this one. */
const maxHealthMs = 1_000;
const maxOutcomeMs = 10_000;
const tries = 3;

let upstream: Bun.Subprocess;
let presage: SpawnedPresage;
let poller: Worker;
let startMb: number;
beforeAll(async () => {
  const port = await freePort();
  upstream = Bun.spawn([
    process.execPath,
    join(import.meta.dir, "../support/upstream/light-upstream.ts"),
    String(port),
  ]);
  presage = await spawnPresage({
    PRESAGE_UPSTREAM_URL: `http://127.0.0.1:${port}/v1`,
    PRESAGE_LOG_LEVEL: "error",
  });
  await presage.call("POST", "/v1/predict", { interaction: { state: "a hall", action: "look" } });
  startMb = await residentMb();
  poller = new Worker(new URL("../support/hostile/poll-health.ts", import.meta.url));
  poller.postMessage(presage.url);
});
afterAll(async () => {
  poller.terminate();
  await presage[Symbol.asyncDispose]();
  upstream.kill();
  await upstream.exited;
});

async function residentMb(): Promise<number> {
  const status = await readFile(`/proc/${presage.pid}/status`, "utf8");
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024;
}

/** How long the slowest answer of `/health` took since this was last asked. */
async function slowestHealthMs(): Promise<number> {
  const answer = Promise.withResolvers<number>();
  poller.onmessage = ({ data }: MessageEvent<number>) => answer.resolve(data);
  poller.postMessage(undefined);
  return await answer.promise;
}

interface Outcome {
  status: number;
  outcomeMs: number;
  healthMs: number;
}

async function send({ method, path, body }: HostileBody): Promise<Outcome> {
  const bytes = body();
  await slowestHealthMs();
  const startedAtMs = performance.now();
  const response = await presage.call(method, path, bytes);
  // Some answers are longer than what the tests should have in memory.
  for await (const _ of response.body ?? []);
  const outcomeMs = performance.now() - startedAtMs;
  return { status: response.status, outcomeMs, healthMs: await slowestHealthMs() };
}

/** What a shape came to. What takes long each time is the server's doing; what does only once is the machine's. */
async function outcomeOf(shape: HostileBody, healthLimitMs: number): Promise<string> {
  for (let attempt = 1; ; attempt += 1) {
    const { status, outcomeMs, healthMs } = await send(shape);
    const isQuick = outcomeMs < maxOutcomeMs && healthMs < healthLimitMs;
    if (!isQuick && attempt < tries) continue;
    const times = `after ${Math.round(outcomeMs)} ms, /health after ${Math.round(healthMs)} ms`;
    return isQuick && status < 500 ? "bounded" : `${status} ${times}: ${shape.name}`;
  }
}

/** Every so many of them, so that each value and each place is among them. */
function everyOf(shapes: HostileBody[], step: number): HostileBody[] {
  return isWhole ? shapes : shapes.filter((_, index) => index % step === 0);
}

async function tryAll(shapes: HostileBody[], healthLimitMs = maxHealthMs): Promise<void> {
  const outcomes: string[] = [];
  for (const shape of shapes) outcomes.push(await outcomeOf(shape, healthLimitMs));
  expect(outcomes.filter((outcome) => outcome !== "bounded")).toEqual([]);
}

describe("A server that receives hostile bodies keeps serving everyone else", () => {
  test("a hundred bodies of 16 MB where bodies may be long", async () => {
    const shapes = everyOf(longBodies(underMebibytes(16)), 4);
    expect(shapes.length).toBeGreaterThanOrEqual(100);
    await tryAll(shapes);
  }, 600_000);

  test("a hundred bodies of 1 MB where bodies are short, and where they may be long", async () => {
    const shapes = [
      ...everyOf(shortBodies(underMebibytes(1)), 5),
      ...everyOf(longBodies(underMebibytes(1)), 7),
    ];
    expect(shapes.length).toBeGreaterThanOrEqual(100);
    await tryAll(shapes);
  }, 600_000);

  test("bodies whose responses are eighty times as long", async () => {
    await tryAll(bodiesWithLongResponses(), 400);
  }, 60_000);

  test("16 MB where bodies are short are rejected", async () => {
    const onePerPlace = new Map(shortBodies(underMebibytes(16)).map((shape) => [shape.path, shape]));
    for (const shape of onePerPlace.values()) {
      const { status, healthMs } = await send(shape);
      expect([shape.path, status]).toEqual([shape.path, 413]);
      expect(healthMs).toBeLessThan(maxHealthMs);
    }
  }, 60_000);

  test("and its memory recovers afterwards", async () => {
    const mb = await eventually(residentMb, (now) => now < startMb + 200, 30_000);
    expect(mb).toBeLessThan(startMb + 200);
  }, 60_000);
});
