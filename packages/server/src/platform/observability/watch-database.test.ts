import { afterEach, beforeEach, expect, jest, test } from "bun:test";
import pino from "pino";
import { watchDatabase } from "./logger.ts";

let lines: Record<string, unknown>[];
let nowMs: number;
let watch: ReturnType<typeof watchDatabase>;

beforeEach(() => {
  lines = [];
  nowMs = 1_000;
  jest.spyOn(performance, "now").mockImplementation(() => nowMs);
  const destination = { write: (line: string) => void lines.push(JSON.parse(line)) };
  watch = watchDatabase(pino({ base: null, timestamp: false }, destination));
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

test("an outage is logged once with its reason", () => {
  for (let second = 0; second < 3_600; second++) {
    for (let call = 0; call < 10; call++) watch.failed(failure);
    nowMs += 1_000;
  }
  expect(lines).toEqual([begins]);
});

test("it is over when a statement succeeds and none has failed for 10 s", () => {
  watch.failed(failure);
  nowMs += 5_000;
  watch.failed(failure);
  nowMs += 9_999;
  watch.responded();
  expect(lines).toEqual([begins]);
  nowMs += 1;
  watch.responded();
  watch.responded();
  expect(lines).toEqual([
    begins,
    { level: 40, msg: "database available again", lastedMs: 14_999, failures: 2 },
  ]);
});

test("a database on which only some statements fail is one outage", () => {
  for (let call = 0; call < 100; call++) {
    watch.failed(failure);
    watch.responded();
    nowMs += 5_000;
    watch.responded();
  }
  expect(lines).toEqual([begins]);
});

test("the next outage is logged again", () => {
  for (let outage = 0; outage < 2; outage++) {
    watch.failed(failure);
    nowMs += 10_000;
    watch.responded();
  }
  expect(lines.map(({ msg }) => msg)).toEqual([
    "database unavailable",
    "database available again",
    "database unavailable",
    "database available again",
  ]);
});

test("the reason is the database's own message, even if it was wrapped", () => {
  const refused = new AggregateError([new Error("connect ECONNREFUSED")], "");
  watch.failed(
    new Error("The key cannot be checked", { cause: new Error("not available", { cause: refused }) }),
  );
  expect(lines).toMatchObject([{ reason: "connect ECONNREFUSED" }]);
});

test("another cause is logged once, even within the same outage", () => {
  const other = Object.assign(new Error("connection refused"), { code: "ECONNREFUSED" });
  for (let call = 0; call < 10; call += 1) watch.failed(call % 2 === 0 ? failure : other);
  expect(lines.map(({ code }) => code)).toEqual(["57P01", "ECONNREFUSED"]);
});
