import { expect, test } from "bun:test";
import { EvaluationFailure } from "./evaluators/family.ts";
import { createSlots } from "./slots.ts";

const patient = new AbortController().signal;

test("who finds no free slot waits, and is let in in the order of arrival", async () => {
  const slots = createSlots({ slots: 1, maxWaiting: 2, maxWaitMs: 10_000 });
  const release = await slots.take(patient);
  const entered: string[] = [];
  const enter = async (name: string) => {
    const releaseAgain = await slots.take(patient);
    entered.push(name);
    releaseAgain();
  };
  const both = [enter("first"), enter("second")];
  await Bun.sleep(5);
  expect(entered).toEqual([]);
  release();
  await Promise.all(both);
  expect(entered).toEqual(["first", "second"]);
});

test("more than may wait are turned away at once", async () => {
  const slots = createSlots({ slots: 1, maxWaiting: 1, maxWaitMs: 10_000 });
  const release = await slots.take(patient);
  const waiting = slots.take(patient);
  const refusal = await slots.take(patient).catch((error: unknown) => error);
  expect(refusal).toBeInstanceOf(EvaluationFailure);
  expect(refusal).toMatchObject({ code: "overloaded" });
  release();
  (await waiting)();
});

test("who waits too long or hangs up loses the turn, and no slot is lost with it", async () => {
  const slots = createSlots({ slots: 1, maxWaiting: 2, maxWaitMs: 20 });
  const release = await slots.take(patient);
  const caller = new AbortController();
  const gone = slots.take(caller.signal).catch((error: unknown) => error);
  const tooLate = slots.take(patient).catch((error: unknown) => error);
  caller.abort(new Error("hung up"));
  release();
  expect(await gone).toMatchObject({ message: "hung up" });
  ((await tooLate) as () => void)();

  const again = await slots.take(patient);
  expect(await slots.take(patient).catch((error: unknown) => error)).toMatchObject({ code: "overloaded" });
  again();
  (await slots.take(patient))();
});
