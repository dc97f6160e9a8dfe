import { expect, test } from "bun:test";
import { createFairSlots, type FairSlotLimits } from "./turns.ts";

const patient = new AbortController().signal;

const refuse = (why: string) => new Error(why);

function create(limits: Partial<FairSlotLimits>) {
  return createFairSlots({ slots: 1, ...limits });
}

/** Takes a slot for each name in turn, releases it immediately, and records the order in which they were admitted. */
function queueUp(slots: ReturnType<typeof create>, accountIds: readonly string[]) {
  const entered: string[] = [];
  const all = accountIds.map(async (accountId) => {
    const release = await slots.take(accountId, patient);
    entered.push(accountId);
    release();
  });
  return { entered, all: Promise.all(all) };
}

test("accounts take turns, and callers of one account are served in order", async () => {
  const slots = create({});
  const release = await slots.take("a", patient);
  const { entered, all } = queueUp(slots, ["a", "a", "a", "b", "b", "c"]);
  await Bun.sleep(1);
  expect([entered, slots.waiting()]).toEqual([[], 6]);
  release();
  await all;
  expect(entered.join("")).toBe("bcabaa");
  expect([slots.inUse(), slots.waiting()]).toEqual([0, 0]);
});

test("a released slot goes to the account that uses the fewest", async () => {
  const slots = create({ slots: 3 });
  const first = await slots.take("a", patient);
  await slots.take("a", patient);
  await slots.take("b", patient);
  const entered: string[] = [];
  const enter = (accountId: string) => slots.take(accountId, patient).then(() => entered.push(accountId));
  for (const accountId of ["a", "b", "c", "c"]) enter(accountId);
  first();
  await Bun.sleep(1);
  expect(entered).toEqual(["c"]);
});

test("a single account gets all slots, or as many as one account may have", async () => {
  for (const [limits, most] of [
    [{ slots: 3 }, 3],
    [{ slots: 3, slotsEach: 2 }, 2],
  ] as const) {
    const slots = create(limits);
    for (let taken = 0; taken < 5; taken += 1) slots.take("a", patient);
    await Bun.sleep(1);
    expect(slots.inUse()).toBe(most);
  }
  const slots = create({ slots: 3, slotsEach: 2 });
  for (let taken = 0; taken < 5; taken += 1) slots.take("a", patient);
  (await slots.take("b", patient))();
  await Bun.sleep(1);
  expect([slots.inUse(), slots.waiting()]).toEqual([2, 3]);
});

test("callers beyond an account's queue limit are refused at once, those of another account are not", async () => {
  const slots = create({ queue: { maxWaitingEach: 1, refuse } });
  const release = await slots.take("a", patient);
  const { entered, all } = queueUp(slots, ["a", "b"]);
  await expect(slots.take("a", patient)).rejects.toThrow("queue full");
  release();
  await all;
  expect(entered).toEqual(["b", "a"]);
});

test("a caller that waits too long or disconnects leaves the queue, and no slot is lost", async () => {
  const slots = create({ queue: { maxWaitMs: 20, refuse } });
  const release = await slots.take("a", patient);
  const caller = new AbortController();
  const gone = slots.take("a", caller.signal);
  const late = slots.take("b", patient);
  caller.abort(new Error("hung up"));
  await expect(gone).rejects.toThrow("hung up");
  await expect(late).rejects.toThrow("waited too long");
  expect(slots.waiting()).toBe(0);
  await expect(slots.take("b", caller.signal)).rejects.toThrow("hung up");
  release();
  (await slots.take("b", patient))();
  expect(slots.inUse()).toBe(0);
});

/** Queues callers of one account, releases each slot immediately, and returns the costs in the order in which they were admitted. */
async function orderOf(costs: readonly number[], onEnter: (entered: number[]) => number[] = () => []) {
  const slots = create({});
  const release = await slots.take("a", patient);
  const entered: number[] = [];
  const one = async (cost: number): Promise<unknown> => {
    const release = await slots.take("a", patient, cost);
    entered.push(cost);
    const more = Promise.all(onEnter(entered).map(one));
    release();
    return await more;
  };
  const all = Promise.all(costs.map(one));
  release();
  await all;
  return entered;
}

test("a caller that is admitted in the turn in which it gives up takes nobody else from the queue", async () => {
  const slots = create({});
  const release = await slots.take("a", patient);
  const caller = new AbortController();
  const admitted = slots.take("a", caller.signal);
  const next = slots.take("a", patient);
  release();
  caller.abort(new Error("hung up"));
  expect(slots.waiting()).toBe(1);
  (await admitted)();
  (await next)();
  expect(slots.inUse()).toBe(0);
});

test("dear work does not wait for work of its kind that gave up", async () => {
  const slots = create({});
  const release = await slots.take("a", patient);
  const gone = AbortSignal.timeout(1);
  const left = Array.from({ length: 5 }, () => slots.take("a", gone, 500));
  await Promise.allSettled(left);
  const entered: number[] = [];
  const all = [...Array.from({ length: 60 }, () => 10), 500].map(async (cost) => {
    const release = await slots.take("a", patient, cost);
    entered.push(cost);
    release();
  });
  release();
  await Promise.all(all);
  expect(entered.indexOf(500)).toBe(50);
});

test("cheap work overtakes dear work of its account that waits longer, however often dear work had its turn", async () => {
  expect(await orderOf([9_800, 9_800, 9_800, 36, 9_800, 36])).toEqual([36, 36, 9_800, 9_800, 9_800, 9_800]);
  const arriving = (entered: number[]) => (entered.length === 3 ? [36] : []);
  expect(await orderOf([9_800, 9_800, 9_800, 9_800], arriving)).toEqual([9_800, 9_800, 9_800, 36, 9_800]);
});

test("dear work has its turn while ever more cheap work of its account arrives", async () => {
  const entered = await orderOf([500, 10], ({ length }) => (length < 1_000 ? [10] : []));
  // Once the cheap work has used as much.
  expect(entered.indexOf(500)).toBe(49);
});

test("work of the same cost is done in order, and of about the same as well", async () => {
  expect(await orderOf([1, 1.5, 1.25, 9, 1])).toEqual([1, 1.5, 1.25, 9, 1]);
});
