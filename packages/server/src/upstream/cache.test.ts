import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { isWholeRun } from "../../test/support/whole-run.ts";
import { createCompletionCache, createSingleFlight, readCompletion } from "./cache.ts";

const forever = Number.POSITIVE_INFINITY;
const empty = readCompletion({ choices: [{ message: {} }] });

function createCache({ maxBytes = 1_000_000, maxAgeS = 60, epoch = "" } = {}) {
  const clock = { nowMs: 1_000_000 };
  return { clock, cache: createCompletionCache({ maxBytes, maxAgeS, epoch, nowMs: () => clock.nowMs }) };
}

describe("A completion cache", () => {
  test("is bounded by bytes, and least recently used ones leave first", () => {
    const maxBytes = 300_000;
    for (const length of [40, 700, 9_000]) {
      const { cache } = createCache({ maxBytes });
      cache.keep("used", new Uint8Array(length), empty);
      const kept = 3 * Math.ceil(maxBytes / length);
      for (let place = 0; place < kept; place++) {
        cache.keep(`${place}`, new Uint8Array(length), empty);
        expect(cache.find("used", forever)).toBeDefined();
        expect(cache.bytes()).toBeLessThanOrEqual(maxBytes);
      }
      expect(cache.bytes()).toBeGreaterThan(maxBytes * 0.95);
      expect(cache.find("0", forever)).toBeUndefined();
      expect(cache.find(`${kept - 1}`, forever)).toBeDefined();
    }
  });

  test("does not keep what is larger than all of it", () => {
    const { cache } = createCache({ maxBytes: 10_000 });
    cache.keep("large", new Uint8Array(10_000), empty);
    expect([cache.find("large", forever), cache.bytes()]).toEqual([undefined, 0]);
  });

  test("keeps nothing of a larger buffer that a completion is a part of", () => {
    const { cache } = createCache();
    cache.keep("a", new Uint8Array(1_000_000).subarray(0, 10), empty);
    expect(cache.find("a", forever)?.bytes.buffer.byteLength).toBe(10);
  });

  test("counts the texts that a hit is read from", () => {
    const keptBytes = (content: string) => {
      const { cache } = createCache();
      cache.keep("a", new Uint8Array(1), readCompletion({ choices: [{ message: { content } }] }));
      return cache.bytes();
    };
    const least = keptBytes("");
    expect(keptBytes("a".repeat(10_000)) - least).toBeGreaterThanOrEqual(10_000);
    expect(keptBytes("\u9580".repeat(10_000)) - least).toBeGreaterThanOrEqual(20_000);
  });

  test("counts the bodies that it recognises, which displace each other", () => {
    const maxBytes = 1_000_000;
    const { cache } = createCache({ maxBytes });
    const digests = Array.from({ length: 2_000 }, (_, place) => `${place}`.padEnd(43, "-"));
    for (const digest of digests) {
      cache.keep(digest, new Uint8Array(40), empty);
      cache.recognise(digest, { key: digest, deployment: "default", servedModel: undefined });
      expect(cache.bytes()).toBeLessThanOrEqual(maxBytes);
    }
    expect(cache.bytes()).toBeGreaterThan(maxBytes * 0.95);
    const recognised = digests.filter((digest) => cache.findBody(digest) !== undefined);
    const kept = digests.filter((digest) => cache.find(digest, forever) !== undefined);
    expect(recognised.length).toBeGreaterThan(0);
    // A recognised body takes at least its own digest and that of what it asks for.
    expect(recognised.length * 2 * 43).toBeLessThan(maxBytes / 20);
    expect(recognised).toEqual(digests.slice(-recognised.length));
    expect(kept).toEqual(digests.slice(-kept.length));
    expect(kept.length).toBeGreaterThan(recognised.length);
  });

  test("forgets what is older than its limit, and gives out nothing older than the caller's", () => {
    const { cache, clock } = createCache({ maxAgeS: 60 });
    cache.keep("a", new Uint8Array(1), empty);
    clock.nowMs += 10_500;
    const kept = cache.find("a", 11);
    expect(kept && cache.ageS(kept)).toBe(10.5);
    expect(cache.find("a", 10)).toBeUndefined();
    clock.nowMs += 49_501;
    expect(cache.find("a", forever)).toBeUndefined();
    expect(cache.bytes()).toBe(0);
  });
});

test("keys are equal only if account, deployment, model, epoch and body are", () => {
  const text = fc.string({ maxLength: 4, unit: fc.constantFrom("a", '"', ",", "[", "]", "\\", "é", "{") });
  const parts = fc.tuple(text, text, text, text, text);
  const keyOf = ([accountId, deployment, model, body, epoch]: [string, string, string, string, string]) =>
    createCache({ epoch }).cache.keyOf({ accountId, deployment, model, text: body });
  fc.assert(
    fc.property(parts, parts, (one, other) => {
      expect(keyOf(one) === keyOf(other)).toBe(one.join("\n") === other.join("\n"));
      expect(keyOf(one)).toBe(keyOf([...one]));
    }),
    { numRuns: isWholeRun ? 500 : 150 },
  );
});

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
