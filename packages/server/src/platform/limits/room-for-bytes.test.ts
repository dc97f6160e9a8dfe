import { expect, test } from "bun:test";
import { createRoomForBytes } from "./memory.ts";

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
