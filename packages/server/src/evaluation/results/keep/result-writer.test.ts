import { describe, expect, test } from "bun:test";
import { storeBusy, storeUncertain } from "../../../storage/store-failure.ts";
import { ordinaryRecord } from "../record/evaluation-record.fixture.ts";
import type { EvaluationRecord } from "../record/evaluation-record.ts";
import { createResultsKeeper } from "./result-writer.ts";
import type { Written } from "./write-results.ts";

const createdAt = 1_795_219_200_000_000;
const unavailable = Object.assign(new Error("database is locked"), { code: "SQLITE_BUSY" });

/** A store that answers each write when the test says so. */
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

/** Lets everything happen that can without the store. */
async function turn(): Promise<void> {
  await Bun.sleep(0);
}

function named(...inputs: string[]): EvaluationRecord[] {
  return inputs.map((input) => ({ ...ordinaryRecord, sample: { input } }));
}

function many(count: number): EvaluationRecord[] {
  return Array(count).fill(ordinaryRecord);
}

/** Called before the store answers: a failure that nobody listens to yet would end the test. */
async function outcomes(calls: Promise<unknown>[]): Promise<unknown[]> {
  return (await Promise.allSettled(calls)).map((one) =>
    one.status === "fulfilled" ? "kept" : (one.reason as unknown),
  );
}

describe("while a write is under way", () => {
  test("calls gather into one", async () => {
    const store = scriptedStore();
    const { keep } = createResultsKeeper(store.write);
    const first = keep(named("a"));
    await turn();
    const others = [keep(named("b", "c")), keep(named("d"))];
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

  test("a call is kept only when its own write is done", async () => {
    const store = scriptedStore();
    const { keep } = createResultsKeeper(store.write);
    void keep(named("a"));
    await turn();
    let isKept = false;
    const second = keep(named("b")).then(() => {
      isKept = true;
    });
    await store.answer(0, 1);
    expect(isKept).toBe(false);
    await store.answer(1, 2);
    await second;
  });
});

test("with no connection to be had, a batch is refused as one, and those that came after it are tried", async () => {
  const store = scriptedStore();
  const { keep } = createResultsKeeper(store.write);
  const calls = [keep(named("a")), keep(named("b"))];
  await turn();
  const later = keep(named("c"));
  const outcome = outcomes([...calls, later]);
  const busy = storeBusy(new Error("timeout"));
  await store.refuse(0, busy);
  expect(store.inputs()).toEqual([["a", "b"], ["c"]]);
  await store.answer(1, 10);
  expect(await outcome).toEqual([busy, busy, "kept"]);
});

test("calls of one turn of the event loop go together, also the first", async () => {
  const store = scriptedStore();
  const { keep } = createResultsKeeper(store.write);
  const calls = [keep(named("a")), keep(named("b"))];
  await turn();
  expect(store.inputs()).toEqual([["a", "b"]]);
  await store.answer(0, 1);
  expect(await outcomes(calls)).toEqual(["kept", "kept"]);
});

test("a call comes in one write, however many results it has, and a write takes no second call past 500", async () => {
  const store = scriptedStore();
  const { keep } = createResultsKeeper(store.write);
  const calls = [200, 300, 1, 600, 2].map((count) => keep(many(count)));
  for (let at = 0; at < calls.length; at += 1) {
    await turn();
    await store.answer(at, 1);
  }
  expect(await outcomes(calls)).toEqual(calls.map(() => "kept"));
  expect(store.inputs().map(({ length }) => length)).toEqual([500, 1, 600, 2]);
});

test("no results are kept without a write", async () => {
  const store = scriptedStore();
  expect(await createResultsKeeper(store.write).keep([])).toEqual([]);
  expect(store.inputs()).toEqual([]);
});

describe("a batch that the store refuses", () => {
  test("is tried call by call, so that only the bad call fails", async () => {
    const store = scriptedStore();
    const { keep } = createResultsKeeper(store.write);
    const bad = new Error("value too long");
    const calls = outcomes([keep(named("a")), keep(named("bad", "b")), keep(named("c"))]);
    await turn();
    await store.refuse(0, bad);
    await store.answer(1, 1);
    await store.refuse(2, bad);
    await store.answer(3, 2);
    expect(await calls).toEqual(["kept", bad, "kept"]);
    expect(store.inputs()).toEqual([["a", "bad", "b", "c"], ["a"], ["bad", "b"], ["c"]]);
  });

  test("because it cannot be reached, fails whole and is not tried again", async () => {
    const store = scriptedStore();
    const { keep } = createResultsKeeper(store.write);
    const calls = outcomes([keep(named("a")), keep(named("b"))]);
    await turn();
    await store.refuse(0, unavailable);
    expect(await calls).toEqual([unavailable, unavailable]);
    expect(store.inputs().length).toBe(1);
  });

  test("because it cannot be reached, takes along at once all that waited meanwhile", async () => {
    const store = scriptedStore();
    const { keep } = createResultsKeeper(store.write);
    const failing = outcomes([keep(named("a"))]);
    await turn();
    const gathered = outcomes([keep(named("b")), keep(many(600))]);
    await store.refuse(0, unavailable);
    expect(await failing).toEqual([unavailable]);
    const refusal = expect.objectContaining({ code: "store_unavailable", cause: unavailable });
    expect(await gathered).toEqual([refusal, refusal]);
    expect(store.inputs()).toEqual([["a"]]);
  });

  test("without a word on whether it was kept, is said to be uncertain, but not what had only waited", async () => {
    const store = scriptedStore();
    const { keep } = createResultsKeeper(store.write);
    const uncertain = storeUncertain(new Error("no answer"));
    const sent = outcomes([keep(named("a")), keep(named("b"))]);
    await turn();
    const gathered = outcomes([keep(named("c"))]);
    await store.refuse(0, uncertain);
    expect(await sent).toEqual([uncertain, uncertain]);
    expect(await gathered).toEqual([expect.objectContaining({ code: "store_unavailable" })]);
    expect(store.inputs()).toEqual([["a", "b"]]);
  });

  test("and which cannot be reached while its calls are tried one by one, keeps nobody waiting", async () => {
    const store = scriptedStore();
    const { keep } = createResultsKeeper(store.write);
    const calls = outcomes([keep(named("a")), keep(named("b")), keep(named("c"))]);
    await turn();
    await store.refuse(0, new Error("value too long"));
    await store.answer(1, 1);
    await store.refuse(2, unavailable);
    const refusal = expect.objectContaining({ code: "store_unavailable", cause: unavailable });
    expect(await calls).toEqual(["kept", unavailable, refusal]);
    expect(store.inputs()).toEqual([["a", "b", "c"], ["a"], ["b"]]);
  });

  test("does not stop what comes after it", async () => {
    const store = scriptedStore();
    const { keep } = createResultsKeeper(store.write);
    const failing = outcomes([keep(named("a"))]);
    await turn();
    await store.refuse(0, unavailable);
    expect(await failing).toEqual([unavailable]);
    const later = outcomes([keep(named("b"))]);
    await turn();
    await store.answer(1, 2);
    expect(await later).toEqual(["kept"]);
  });
});

test("past 20,000 results that wait, a call is turned away at once, and is welcome again when they are fewer", async () => {
  const store = scriptedStore();
  const { keep } = createResultsKeeper(store.write);
  const first = keep(named("first"));
  await turn();
  const filling = keep(many(20_000));
  expect(await outcomes([keep(named("too many"))])).toEqual([
    expect.objectContaining({ name: "ServiceError", code: "overloaded", retryAfterS: 1 }),
  ]);
  await store.answer(0, 1);
  const later = keep(named("later"));
  await store.answer(1, 2);
  await store.answer(2, 20_002);
  expect(await outcomes([first, filling, later])).toEqual(["kept", "kept", "kept"]);
  expect(store.inputs().flat()).not.toContain("too many");
});

test("long results share no write past 8 MB, and each call comes in one whatever it has", async () => {
  const store = scriptedStore();
  const { keep } = createResultsKeeper(store.write);
  const megabytes = (count: number) => named("x".repeat(count * 1_000_000));
  const calls = [keep(named("first")), keep(megabytes(1)), keep(megabytes(2)), keep(megabytes(9))];
  for (let at = 0; at < 3; at += 1) {
    await turn();
    await store.answer(at, 1);
  }
  expect(await outcomes(calls)).toEqual(calls.map(() => "kept"));
  expect(store.inputs().map(({ length }) => length)).toEqual([3, 1]);
});
