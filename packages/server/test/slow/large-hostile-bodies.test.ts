import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFile } from "node:fs/promises";
import { eventually } from "../support/eventually.ts";
import {
  bodiesWithLongResponses,
  type HostileBody,
  longBodies,
  shortBodies,
} from "../support/hostile/hostile-bodies.ts";
import { type SpawnedPresage, spawnPresage } from "../support/presage/spawn-presage.ts";
import { startLightUpstream } from "../support/upstream/start-light-upstream.ts";

const mebibyte = 1024 * 1024;
/** Room for the text around the value in each body. */
const underMebibytes = (count: number) => count * mebibyte - 1024;
/** `HOSTILE_SHAPES=all` tries every value in every place, which takes minutes; otherwise each value and each place is used once. */
const isWhole = process.env.HOSTILE_SHAPES === "all";
/** In the server's processor time while one request to `/health` waits: other tests share the processors with this one. */
const maxHealthMs = 1_000;
const maxOutcomeMs = 10_000;
const tries = 3;

let upstream: Awaited<ReturnType<typeof startLightUpstream>>;
let presage: SpawnedPresage;
let poller: Worker;
let startMb: number;
beforeAll(async () => {
  upstream = await startLightUpstream();
  presage = await spawnPresage({
    PRESAGE_UPSTREAM_URL: upstream.url,
    PRESAGE_LOG_LEVEL: "error",
  });
  await presage.call("POST", "/v1/predict", { interaction: { state: "a hall", action: "look" } });
  startMb = await residentMb();
  poller = new Worker(new URL("../support/hostile/poll-health.ts", import.meta.url));
  poller.postMessage({ url: presage.url, pid: presage.pid });
});
afterAll(async () => {
  poller.terminate();
  await presage[Symbol.asyncDispose]();
  await upstream.stop();
});

async function residentMb(): Promise<number> {
  const status = await readFile(`/proc/${presage.pid}/status`, "utf8");
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024;
}

/** The slowest response of `/health` since the last call, in processor time of the server's main thread. */
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
  // Some responses are too long for the tests' memory.
  for await (const _ of response.body ?? []);
  const outcomeMs = performance.now() - startedAtMs;
  return { status: response.status, outcomeMs, healthMs: await slowestHealthMs() };
}

/** The result of a body. If it is slow each time, the server is slow; if only once, the machine was. */
async function outcomeOf(shape: HostileBody, healthLimitMs: number): Promise<string> {
  for (let attempt = 1; ; attempt += 1) {
    const { status, outcomeMs, healthMs } = await send(shape);
    const isQuick = outcomeMs < maxOutcomeMs && healthMs < healthLimitMs;
    if (!isQuick && attempt < tries) continue;
    const times = `after ${Math.round(outcomeMs)} ms, /health after ${Math.round(healthMs)} ms`;
    return isQuick && status < 500 ? "bounded" : `${status} ${times}: ${shape.name}`;
  }
}

/** A sample with each value and each place: the step is less than the number of values and coprime to it. */
function someOf(shapes: HostileBody[], first = 0): HostileBody[] {
  return isWhole ? shapes : shapes.filter((_, index) => index % 14 === first);
}

async function tryAll(shapes: HostileBody[], healthLimitMs = maxHealthMs): Promise<void> {
  const outcomes: string[] = [];
  for (const shape of shapes) outcomes.push(await outcomeOf(shape, healthLimitMs));
  expect(outcomes.filter((outcome) => outcome !== "bounded")).toEqual([]);
}

describe("A server that receives hostile bodies keeps serving everyone else", () => {
  test("bodies of 16 MB where bodies may be long", async () => {
    const shapes = someOf(longBodies(underMebibytes(16)));
    expect(shapes.length).toBeGreaterThan(30);
    await tryAll(shapes);
  }, 600_000);

  test("bodies of 1 MB where bodies are short, and where they may be long", async () => {
    const shapes = [...someOf(shortBodies(underMebibytes(1))), ...someOf(longBodies(underMebibytes(1)), 7)];
    expect(shapes.length).toBeGreaterThan(60);
    await tryAll(shapes);
  }, 600_000);

  test("bodies whose responses are eighty times as long", async () => {
    await tryAll(bodiesWithLongResponses(), 400);
  }, 300_000);

  test("16 MB where bodies are short are rejected", async () => {
    const onePerPlace = new Map(shortBodies(underMebibytes(16)).map((shape) => [shape.path, shape]));
    for (const shape of onePerPlace.values()) {
      const { status, healthMs } = await send(shape);
      expect([shape.path, status]).toEqual([shape.path, 413]);
      expect(healthMs).toBeLessThan(maxHealthMs);
    }
  }, 300_000);

  test("and its memory recovers afterwards", async () => {
    const mb = await eventually(residentMb, (now) => now < startMb + 200, 30_000);
    expect(mb).toBeLessThan(startMb + 200);
  }, 300_000);
});
