import { expect, test } from "bun:test";
import { createPace } from "./pace.ts";

const reasons: string[] = [];
const listeners = { onAway: (reason: string) => void reasons.push(reason), onBack() {} };
const never = new AbortController().signal;

/** A pace all of whose turns are always in use. */
function useAll(concurrency: number) {
  let now = 0;
  const pace = createPace(concurrency, listeners, { nowMs: () => now });
  const held: number[] = [];
  const fill = async () => {
    for (let asked = 0; asked <= concurrency; asked += 1) void pace.take(never).then((at) => held.push(at));
    await Bun.sleep(1);
  };
  const round = async (end: (pace: ReturnType<typeof createPace>, begun: number) => void, ms: number) => {
    now += ms;
    for (const begun of held.splice(0)) end(pace, begun);
    await fill();
    return held.length;
  };
  return { pace, fill, round, held };
}

test("a run begins with four at once, and has as many as it may while latency holds", async () => {
  const { fill, round, held } = useAll(16);
  await fill();
  expect(held).toHaveLength(4);
  const sizes: number[] = [];
  for (let count = 0; count < 6; count += 1)
    sizes.push(await round((pace) => pace.succeeded(100 + held.length), 100));
  expect(sizes).toEqual([6, 9, 13, 16, 16, 16]);
});

test("it has no more while each response takes twice as long as usual", async () => {
  const { fill, round, held } = useAll(64);
  await fill();
  await round((pace) => pace.succeeded(100), 100);
  const before = held.length;
  // A server that answers one request at a time: latency is proportional to the crowd.
  let after = before;
  for (let count = 0; count < 3; count += 1) after = await round((pace) => pace.succeeded(300), 300);
  expect(after).toBeLessThanOrEqual(before + 2);
});

test("a crowd that times out halves it once, however long its time-outs take", async () => {
  const { fill, round } = useAll(16);
  await fill();
  for (let count = 0; count < 6; count += 1) await round((pace) => pace.succeeded(100), 100);
  const size = await round((pace, begun) => pace.failed("late", begun, true), 5_000);
  expect(size).toBe(8);
});

test("what a deployment bears is known once time-outs have brought the number down, until it is up again", async () => {
  const { pace, fill, round } = useAll(4);
  await fill();
  expect(pace.atOnce()).toBeUndefined();
  expect(await round((one, begun) => one.failed("late", begun, true), 5_000)).toBe(2);
  expect(pace.atOnce()).toBe(2);
  for (let count = 0; count < 3; count += 1) await round((one) => one.succeeded(100), 100);
  expect(await round((one) => one.succeeded(100), 100)).toBe(4);
  expect(pace.atOnce()).toBeUndefined();
});

test("a deployment that never answers counts as away after few time-outs, not after hours of them", async () => {
  const { fill, round } = useAll(16);
  await fill();
  reasons.length = 0;
  await round((pace, begun) => pace.failed("late", begun, true), 60_000);
  expect(reasons).toEqual([]);
  await round((pace, begun) => pace.failed("late", begun, true), 60_000);
  expect(reasons).toEqual(["late"]);
});
