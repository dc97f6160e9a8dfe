import { expect, test } from "bun:test";
import { createSingleFlight } from "./cache.ts";

/** Flights whose work a test ends, and the signals that the work was begun with. */
function createFlights() {
  const { join } = createSingleFlight<string>();
  const begun: AbortSignal[] = [];
  const work = Promise.withResolvers<string>();
  const begin = (signal: AbortSignal) => {
    begun.push(signal);
    return work.promise;
  };
  return { begun, work, join: (signal = new AbortController().signal) => join("key", signal, begin) };
}

const reasonOf = (call: Promise<unknown>) => call.catch((error: unknown) => error);

test("whoever leaves at a deadline of their own leaves the others with the work", async () => {
  const { begun, work, join } = createFlights();
  const leader = new AbortController();
  const left = reasonOf(join(leader.signal));
  const other = join();
  leader.abort("too late");
  expect(await left).toBe("too late");
  expect(begun[0]?.aborted).toBe(false);
  work.resolve("done");
  expect(await other).toEqual({ value: "done", isFirst: true });
  expect(begun).toHaveLength(1);
});

test("the work is aborted for the last one's reason, and nobody joins it any more", async () => {
  const { begun, work, join } = createFlights();
  const callers = [new AbortController(), new AbortController()];
  const left = callers.map(({ signal }) => reasonOf(join(signal)));
  for (const [place, caller] of callers.entries()) caller.abort(place);
  expect(await Promise.all(left)).toEqual([0, 1]);
  expect(begun.map(({ reason }) => reason)).toEqual([1]);
  const late = join();
  expect(begun).toHaveLength(2);
  work.resolve("done");
  expect(await late).toEqual({ value: "done", isFirst: true });
  expect(begun[1]?.aborted).toBe(false);
});

test("a failure goes to all who wait, and to nobody who comes after it", async () => {
  const { begun, work, join } = createFlights();
  const waiting = [join(), join(), join()].map(reasonOf);
  work.reject("failed");
  expect(await Promise.all(waiting)).toEqual(["failed", "failed", "failed"]);
  expect(await reasonOf(join())).toBe("failed");
  expect(begun).toHaveLength(2);
});

test("a value is given to all, to one of them as the first", async () => {
  const { work, join } = createFlights();
  const waiting = [join(), join(), join()];
  work.resolve("done");
  const given = await Promise.all(waiting);
  expect(given.map(({ isFirst }) => isFirst)).toEqual([true, false, false]);
});
