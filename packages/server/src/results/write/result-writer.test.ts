import { describe, expect, test } from "bun:test";
import { storeBusy, storeUncertain } from "../../platform/storage/store-error.ts";
import { ordinaryRecord } from "../evaluation-record.fixture.ts";
import type { EvaluationRecord } from "../result.ts";
import { createResultWriter } from "./result-writer.ts";
import type { Written } from "./write-results.ts";

const createdAt = 1_795_219_200_000_000;
const unavailable = Object.assign(new Error("database is locked"), { code: "SQLITE_BUSY" });

/** A store whose writes finish when the test says so. */
function scriptedStore() {
  const writes: { inputs: unknown[]; answer: PromiseWithResolvers<Written> }[] = [];
  const write = (records: readonly EvaluationRecord[]) => {
    const answer = Promise.withResolvers<Written>();
    writes.push({ inputs: records.map(({ sample }) => sample.input), answer });
    return answer.promise;
  };
  return {
    write,
    inputs: () => writes.map(({ inputs }) => inputs),
    async answer(at: number, firstId: number) {
      const ids = (writes[at]?.inputs ?? []).map((_, index) => firstId + index);
      writes[at]?.answer.resolve({ ids, createdAt, earlier: new Map() });
      await turn();
    },
    async refuse(at: number, reason: Error) {
      writes[at]?.answer.reject(reason);
      await turn();
    },
  };
}

/** Lets everything run that does not wait for the store. */
async function turn(): Promise<void> {
  await Bun.sleep(0);
}

function named(...inputs: string[]): EvaluationRecord[] {
  return inputs.map((input) => ({ ...ordinaryRecord, sample: { input } }));
}

function many(count: number): EvaluationRecord[] {
  return Array(count).fill(ordinaryRecord);
}

/** Called before the store answers: an unhandled rejection would end the test. */
async function outcomes(calls: Promise<unknown>[]): Promise<unknown[]> {
  return (await Promise.allSettled(calls)).map((one) =>
    one.status === "fulfilled" ? "stored" : (one.reason as unknown),
  );
}

describe("while a write is in progress", () => {
  test("calls collect into one batch", async () => {
    const store = scriptedStore();
    const { write } = createResultWriter(store.write);
    const first = write(named("a"));
    await turn();
    const others = [write(named("b", "c")), write(named("d"))];
    await turn();
    expect(store.inputs()).toEqual([["a"]]);
    await store.answer(0, 10);
    expect(store.inputs()).toEqual([["a"], ["b", "c", "d"]]);
    await store.answer(1, 20);
    const kept = await Promise.all([first, ...others]);
    expect(kept.map((results) => results.map(({ id, sample }) => [id, sample.input]))).toEqual([
      [[10, "a"]],
      [
        [20, "b"],
        [21, "c"],
      ],
      [[22, "d"]],
    ]);
    expect(kept.flat().every((result) => result.createdAt === createdAt)).toBe(true);
  });

  test("the next batch goes to the store before the calls of the last one continue", async () => {
    const store = scriptedStore();
    const { write } = createResultWriter(store.write);
    const seenByFirst = write(named("a")).then(() => store.inputs());
    await turn();
    const second = write(named("b"));
    await store.answer(0, 1);
    expect(await seenByFirst).toEqual([["a"], ["b"]]);
    await store.answer(1, 2);
    await second;
  });

  test("a call returns only when its own write is done", async () => {
    const store = scriptedStore();
    const { write } = createResultWriter(store.write);
    void write(named("a"));
    await turn();
    let isStored = false;
    const second = write(named("b")).then(() => {
      isStored = true;
    });
    await store.answer(0, 1);
    expect(isStored).toBe(false);
    await store.answer(1, 2);
    await second;
  });
});

test("without a free connection a batch fails as a whole, and later calls are tried", async () => {
  const store = scriptedStore();
  const { write } = createResultWriter(store.write);
  const calls = [write(named("a")), write(named("b"))];
  await turn();
  const later = write(named("c"));
  const outcome = outcomes([...calls, later]);
  const busy = storeBusy(new Error("timeout"));
  await store.refuse(0, busy);
  expect(store.inputs()).toEqual([["a", "b"], ["c"]]);
  await store.answer(1, 10);
  expect(await outcome).toEqual([busy, busy, "stored"]);
});

test("calls of one turn of the event loop share a write, including the first", async () => {
  const store = scriptedStore();
  const { write } = createResultWriter(store.write);
  const calls = [write(named("a")), write(named("b"))];
  await turn();
  expect(store.inputs()).toEqual([["a", "b"]]);
  await store.answer(0, 1);
  expect(await outcomes(calls)).toEqual(["stored", "stored"]);
});

test("a call is one write however many results it has, and a write takes no second call beyond 500 results", async () => {
  const store = scriptedStore();
  const { write } = createResultWriter(store.write);
  const calls = [200, 300, 1, 600, 2].map((count) => write(many(count)));
  for (let at = 0; at < calls.length; at += 1) {
    await turn();
    await store.answer(at, 1);
  }
  expect(await outcomes(calls)).toEqual(calls.map(() => "stored"));
  expect(store.inputs().map(({ length }) => length)).toEqual([500, 1, 600, 2]);
});

test("no results cause no write", async () => {
  const store = scriptedStore();
  expect(await createResultWriter(store.write).write([])).toEqual([]);
  expect(store.inputs()).toEqual([]);
});

describe("a batch that the store rejects", () => {
  test("is retried call by call, so that only the bad call fails", async () => {
    const store = scriptedStore();
    const { write } = createResultWriter(store.write);
    const bad = new Error("value too long");
    const calls = outcomes([write(named("a")), write(named("bad", "b")), write(named("c"))]);
    await turn();
    await store.refuse(0, bad);
    await store.answer(1, 1);
    await store.refuse(2, bad);
    await store.answer(3, 2);
    expect(await calls).toEqual(["stored", bad, "stored"]);
    expect(store.inputs()).toEqual([["a", "bad", "b", "c"], ["a"], ["bad", "b"], ["c"]]);
  });

  test("because of a deadlock, is retried call by call as well, and no waiting call fails", async () => {
    const store = scriptedStore();
    const { write } = createResultWriter(store.write);
    const calls = outcomes([write(named("a")), write(named("b"))]);
    await turn();
    const gathered = outcomes([write(named("c"))]);
    await store.refuse(0, Object.assign(new Error("deadlock detected"), { code: "40P01" }));
    for (const write of [1, 2, 3]) await store.answer(write, 1);
    expect([await calls, await gathered]).toEqual([["stored", "stored"], ["stored"]]);
  });

  test("because it is unreachable, fails as a whole and is not retried", async () => {
    const store = scriptedStore();
    const { write } = createResultWriter(store.write);
    const calls = outcomes([write(named("a")), write(named("b"))]);
    await turn();
    await store.refuse(0, unavailable);
    expect(await calls).toEqual([unavailable, unavailable]);
    expect(store.inputs().length).toBe(1);
  });

  test("because it is unreachable, fails all waiting calls at once", async () => {
    const store = scriptedStore();
    const { write } = createResultWriter(store.write);
    const failing = outcomes([write(named("a"))]);
    await turn();
    const gathered = outcomes([write(named("b")), write(many(600))]);
    await store.refuse(0, unavailable);
    expect(await failing).toEqual([unavailable]);
    const refusal = expect.objectContaining({ code: "store_unavailable", cause: unavailable });
    expect(await gathered).toEqual([refusal, refusal]);
    expect(store.inputs()).toEqual([["a"]]);
  });

  test("without confirming the commit is reported as uncertain, unlike calls that only waited", async () => {
    const store = scriptedStore();
    const { write } = createResultWriter(store.write);
    const uncertain = storeUncertain(new Error("no answer"));
    const sent = outcomes([write(named("a")), write(named("b"))]);
    await turn();
    const gathered = outcomes([write(named("c"))]);
    await store.refuse(0, uncertain);
    expect(await sent).toEqual([uncertain, uncertain]);
    expect(await gathered).toEqual([expect.objectContaining({ code: "store_unavailable" })]);
    expect(store.inputs()).toEqual([["a", "b"]]);
  });

  test("and which becomes unreachable while its calls are retried fails the remaining calls at once", async () => {
    const store = scriptedStore();
    const { write } = createResultWriter(store.write);
    const calls = outcomes([write(named("a")), write(named("b")), write(named("c"))]);
    await turn();
    await store.refuse(0, new Error("value too long"));
    await store.answer(1, 1);
    await store.refuse(2, unavailable);
    const refusal = expect.objectContaining({ code: "store_unavailable", cause: unavailable });
    expect(await calls).toEqual(["stored", unavailable, refusal]);
    expect(store.inputs()).toEqual([["a", "b", "c"], ["a"], ["b"]]);
  });

  test("does not stop later calls", async () => {
    const store = scriptedStore();
    const { write } = createResultWriter(store.write);
    const failing = outcomes([write(named("a"))]);
    await turn();
    await store.refuse(0, unavailable);
    expect(await failing).toEqual([unavailable]);
    const later = outcomes([write(named("b"))]);
    await turn();
    await store.answer(1, 2);
    expect(await later).toEqual(["stored"]);
  });
});

test("beyond 20,000 waiting results a call is rejected at once, and accepted again when there are fewer", async () => {
  const store = scriptedStore();
  const { write } = createResultWriter(store.write);
  const first = write(named("first"));
  await turn();
  const filling = write(many(20_000));
  expect(await outcomes([write(named("too many"))])).toEqual([
    expect.objectContaining({ name: "ServiceError", code: "overloaded", retryAfterS: 1 }),
  ]);
  await store.answer(0, 1);
  const later = write(named("later"));
  await store.answer(1, 2);
  await store.answer(2, 20_002);
  expect(await outcomes([first, filling, later])).toEqual(["stored", "stored", "stored"]);
  expect(store.inputs().flat()).not.toContain("too many");
});

test("a write takes no second call beyond 2 MB, and a call is one write whatever its size", async () => {
  const store = scriptedStore();
  const { write } = createResultWriter(store.write);
  const megabytes = (count: number) => named("x".repeat(count * 1_000_000));
  const calls = [write(named("first")), write(megabytes(0.25)), write(megabytes(0.5)), write(megabytes(3))];
  for (let at = 0; at < 3; at += 1) {
    await turn();
    await store.answer(at, 1);
  }
  expect(await outcomes(calls)).toEqual(calls.map(() => "stored"));
  expect(store.inputs().map(({ length }) => length)).toEqual([3, 1]);
});
