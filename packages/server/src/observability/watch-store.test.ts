import { afterEach, beforeEach, expect, jest, test } from "bun:test";
import pino from "pino";
import { watchStore } from "./watch-store.ts";

let lines: Record<string, unknown>[];
let nowMs: number;
let watch: ReturnType<typeof watchStore>;

beforeEach(() => {
  lines = [];
  nowMs = 1_000;
  jest.spyOn(performance, "now").mockImplementation(() => nowMs);
  const destination = { write: (line: string) => void lines.push(JSON.parse(line)) };
  watch = watchStore(pino({ base: null, timestamp: false }, destination));
});
afterEach(() => {
  jest.restoreAllMocks();
});

const failure = Object.assign(new Error("terminating connection", { cause: undefined }), {
  code: "57P01",
  detail: "a row",
});
const begins = {
  level: 40,
  msg: "database unavailable",
  reason: "terminating connection",
  code: "57P01",
};

test("an outage has a line with its reason, however often and however long all fails", () => {
  for (let second = 0; second < 3_600; second++) {
    for (let call = 0; call < 10; call++) watch.failed(failure);
    nowMs += 1_000;
  }
  expect(lines).toEqual([begins]);
});

test("it is over when the store answers and nothing has failed for 10 s", () => {
  watch.failed(failure);
  nowMs += 5_000;
  watch.failed(failure);
  nowMs += 9_999;
  watch.answered();
  expect(lines).toEqual([begins]);
  nowMs += 1;
  watch.answered();
  watch.answered();
  expect(lines).toEqual([
    begins,
    { level: 40, msg: "database available again", lastedMs: 5_000, failures: 2 },
  ]);
});

test("a store that answers some and fails others is one outage", () => {
  for (let call = 0; call < 100; call++) {
    watch.failed(failure);
    watch.answered();
    nowMs += 5_000;
    watch.answered();
  }
  expect(lines).toEqual([begins]);
});

test("the next outage has lines of its own", () => {
  for (let outage = 0; outage < 2; outage++) {
    watch.failed(failure);
    nowMs += 10_000;
    watch.answered();
  }
  expect(lines.map(({ msg }) => msg)).toEqual([
    "database unavailable",
    "database available again",
    "database unavailable",
    "database available again",
  ]);
});

test("the reason is the store's own, whatever it came wrapped in", () => {
  const refused = new AggregateError([new Error("connect ECONNREFUSED")], "");
  watch.failed(
    new Error("The key cannot be checked", { cause: new Error("not available", { cause: refused }) }),
  );
  expect(lines).toMatchObject([{ reason: "connect ECONNREFUSED" }]);
});
