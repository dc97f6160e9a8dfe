import { expect, test } from "bun:test";
import { createByteBudget, createRoomForBytes, readBodyWithin } from "./memory.ts";

const megabyte = 1_000_000;
const overloaded = expect.objectContaining({ code: "overloaded", retryAfterS: 1 });

/** The error that a call threw, or undefined. */
function thrownBy(call: () => void): unknown {
  try {
    call();
  } catch (error) {
    return error;
  }
  return undefined;
}

test("Reserved bytes count until they are released", () => {
  const budget = createByteBudget(80 * megabyte);
  budget.resize(0, 60 * megabyte);
  expect(thrownBy(() => budget.resize(0, 20 * megabyte))).toEqual(overloaded);
  budget.resize(60 * megabyte, 15 * megabyte);
  budget.resize(0, 20 * megabyte);
  expect(budget.reservedBytes()).toBe(35 * megabyte);
  budget.resize(15 * megabyte, 0);
  budget.resize(20 * megabyte, 0);
  expect(budget.reservedBytes()).toBe(0);
});

test("A holder whose larger reservation is refused keeps the old one", () => {
  const budget = createByteBudget(80 * megabyte);
  budget.resize(0, 40 * megabyte);
  budget.resize(0, megabyte);
  expect(thrownBy(() => budget.resize(megabyte, 31 * megabyte))).toEqual(overloaded);
  expect(budget.reservedBytes()).toBe(41 * megabyte);
});

test("Large holders leave an eighth of the budget to small ones", () => {
  const budget = createByteBudget(8 * megabyte);
  for (let reserved = 0; reserved < 7; reserved += 1) budget.resize(0, megabyte);
  expect(thrownBy(() => budget.resize(0, megabyte))).toEqual(overloaded);
  for (let reserved = 0; reserved < 10; reserved += 1) budget.resize(0, 100_000);
  expect(thrownBy(() => budget.resize(0, 100_000))).toEqual(overloaded);
});

test("A request that could never fit gets 413 instead of 503", () => {
  const budget = createByteBudget(8 * megabyte);
  expect(thrownBy(() => budget.resize(0, 8 * megabyte))).toEqual(
    expect.objectContaining({ code: "memory_exceeded", message: expect.stringMatching(/8 MB .* 7 MB/) }),
  );
});

test("Bytes that are in memory already count even beyond the limit", () => {
  const budget = createByteBudget(8 * megabyte);
  budget.resizeAnyway(0, 20 * megabyte);
  expect(thrownBy(() => budget.resize(0, 1))).toEqual(overloaded);
  budget.resizeAnyway(20 * megabyte, 0);
  budget.resize(0, 1);
});

test("a body in thousands of pieces that are there at once is read in several turns of the loop", async () => {
  const pieces = 10_000;
  let read = 0;
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        controller.enqueue(new Uint8Array([32]));
        read += 1;
        if (read === pieces) controller.close();
      },
    },
    { highWaterMark: 0 },
  );
  const atNextTurn = new Promise<number>((resolve) => setImmediate(() => resolve(read)));
  const bytes = await readBodyWithin(new Response(body), pieces);
  expect(bytes).toEqual(new Uint8Array(pieces).fill(32));
  expect(await atNextTurn).toBeLessThan(pieces / 10);
});

const patient = new AbortController().signal;

/** Asks for room for these bytes. The state shows whether it has been granted yet. */
function taking(room: ReturnType<typeof createRoomForBytes>, bytes: number, signal = patient) {
  const state = { isIn: false, hasFailed: false };
  const taken = room.take(bytes, signal).then(
    (giveBack) => {
      state.isIn = true;
      return giveBack;
    },
    () => {
      state.hasFailed = true;
      return () => {};
    },
  );
  return { state, giveBack: async () => (await taken)() };
}

test("who finds no room waits, and others behind it, too", async () => {
  const room = createRoomForBytes(10);
  const [first, second, third] = [taking(room, 6), taking(room, 6), taking(room, 1)];
  await Bun.sleep(1);
  expect([first, second, third].map(({ state }) => state.isIn)).toEqual([true, false, false]);
  await first.giveBack();
  await Bun.sleep(1);
  expect([second, third].map(({ state }) => state.isIn)).toEqual([true, true]);
});

test("what is larger than the room is admitted alone", async () => {
  const room = createRoomForBytes(10);
  const [small, large] = [taking(room, 1), taking(room, 100)];
  await Bun.sleep(1);
  expect(large.state.isIn).toBe(false);
  await small.giveBack();
  await Bun.sleep(1);
  expect(large.state.isIn).toBe(true);
});

test("who gives up leaves the room to others", async () => {
  const room = createRoomForBytes(10);
  const controller = new AbortController();
  const [first, second, third] = [taking(room, 6), taking(room, 6, controller.signal), taking(room, 4)];
  controller.abort();
  await Bun.sleep(1);
  expect([first, third].map(({ state }) => state.isIn)).toEqual([true, true]);
  expect(second.state.hasFailed).toBe(true);
});

test("one can wait until nobody waits", async () => {
  const room = createRoomForBytes(10);
  const [first, second] = [taking(room, 6), taking(room, 6)];
  let isCalm = false;
  const calm = room.untilNobodyWaits(patient).then(() => {
    isCalm = true;
  });
  await Bun.sleep(1);
  expect(isCalm).toBe(false);
  await first.giveBack();
  await calm;
  await second.giveBack();
  await room.untilNobodyWaits(patient);
});
