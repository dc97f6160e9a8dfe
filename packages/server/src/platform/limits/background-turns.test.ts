import { expect, test } from "bun:test";
import { createBackgroundTurns, withRests } from "./turns.ts";

const patient = new AbortController().signal;

/** Each piece of work takes 1 ms on a fake clock. */
function start(hasLiveRequests: () => boolean) {
  let now = 0;
  const loops: number[] = [];
  const rests: number[] = [];
  const turns = createBackgroundTurns(hasLiveRequests, {
    nowMs: () => now,
    nextLoop: async () => {
      loops.push(0);
      await Bun.sleep(0);
    },
    rest: async (ms) => {
      rests.push(ms);
      now += ms;
    },
  });
  const work = async () => {
    await turns.take(patient);
    now += 1;
    loops[loops.length - 1] = (loops.at(-1) ?? 0) + 1;
  };
  return { work, rests, inALoop: () => Math.max(...loops), turns, now: () => now };
}

const many = Array.from({ length: 40 }, (_, index) => index);

test("beside live requests, a turn of the loop has one turn of background work, which has a third of the time", async () => {
  const { work, rests, inALoop, now } = start(() => true);
  await Promise.all(many.map(work));
  await Bun.sleep(20);
  expect(inALoop()).toBe(1);
  expect(rests.reduce((sum, ms) => sum + ms, 0)).toBe(80);
  expect(now()).toBe(120);
});

test("without live requests, several share a turn of the loop, and none rests", async () => {
  const { work, rests, inALoop } = start(() => false);
  await Promise.all(many.map(work));
  expect(inALoop()).toBeGreaterThan(1);
  expect(inALoop()).toBeLessThan(many.length);
  expect(rests).toEqual([]);
});

test("turns are taken in the order in which they were asked for", async () => {
  const { turns } = start(() => true);
  const began: number[] = [];
  await Promise.all(many.map((index) => turns.take(patient).then(() => began.push(index))));
  expect(began).toEqual(many);
});

test("whoever was aborted meanwhile does not begin", async () => {
  const { turns } = start(() => false);
  const controller = new AbortController();
  const waiting = turns.take(controller.signal);
  controller.abort(new Error("cancelled"));
  await expect(waiting).rejects.toThrow("cancelled");
});

test("beside live requests a thread reads chunks in slices, and rests seven times as long as it works on them", async () => {
  let now = 0;
  const rests: number[] = [];
  async function* chunks() {
    for (const givesWay of [false, true, false]) yield { chunk: new Uint8Array(200_000).fill(7), givesWay };
  }
  const slices: number[] = [];
  const read = withRests(
    chunks(),
    () => now,
    async (ms) => rests.push(ms),
  );
  for await (const slice of read) {
    slices.push(slice.length);
    now += slice.every((byte) => byte === 7) ? 0.125 : Number.NaN;
  }
  expect(slices).toEqual([200_000, 65_536, 65_536, 65_536, 3_392, 200_000]);
  expect(rests).toEqual([1.75, 1.75]);
});
