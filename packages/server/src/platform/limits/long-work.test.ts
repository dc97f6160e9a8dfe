import { expect, test } from "bun:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { createLongWork } from "./turns.ts";

const never = new AbortController().signal;

test("One piece of work is done in a turn of the loop at most, and accounts take turns", async () => {
  const work = createLongWork();
  const done: { accountId: string; turn: number }[] = [];
  let turn = 0;
  let isOver = false;
  const counting = (async () => {
    for (; !isOver; turn += 1) await nextTurn();
  })();

  async function doOne(accountId: string): Promise<void> {
    const end = await work.take(accountId, never, 1_000_000);
    done.push({ accountId, turn });
    end();
  }
  const crowd = ["a", "a", "a"].map(doOne);
  await Promise.all([...crowd, doOne("b")]);
  isOver = true;
  await counting;
  expect(done.map(({ accountId }) => accountId)).toEqual(["a", "b", "a", "a"]);
  expect(new Set(done.map((one) => one.turn)).size).toBe(done.length);
});

test("A caller that gives up while waiting does not block the next", async () => {
  const work = createLongWork();
  const end = await work.take("a", never, 1_000_000);
  const leaving = new AbortController();
  const left = work.take("a", leaving.signal, 1_000_000);
  const next = work.take("a", never, 1_000_000);
  leaving.abort(new Error("gone"));
  await expect(left).rejects.toThrow("gone");
  end();
  (await next)();
});

test("Beside short requests, long work rests twice as long as it took", async () => {
  const clock = { nowMs: 0 };
  const rests: number[] = [];
  const work = createLongWork({
    nowMs: () => clock.nowMs,
    rest: async (ms) => void rests.push(ms),
  });

  async function doOne(tookMs: number): Promise<void> {
    const end = await work.take("a", never, 1_000_000);
    clock.nowMs += tookMs;
    end();
    for (let turn = 0; turn < 4; turn += 1) await nextTurn();
  }
  await doOne(5);
  expect(rests).toEqual([]);
  work.giveWay();
  await doOne(5);
  await doOne(7);
  expect(rests).toEqual([10, 14]);
  work.giveWay();
  await doOne(3_600_000);
  expect(rests).toEqual([10, 14, 200]);
  clock.nowMs += 1_000;
  await doOne(5);
  expect(rests).toEqual([10, 14, 200]);
});
