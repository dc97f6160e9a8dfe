import { afterEach, beforeEach, expect, jest, test } from "bun:test";
import pino from "pino";
import { type OutageWatch, watchOutage } from "./logger.ts";

let lines: Record<string, unknown>[];
let nowMs: number;
let watch: OutageWatch;

beforeEach(() => {
  lines = [];
  nowMs = 1_000;
  jest.spyOn(performance, "now").mockImplementation(() => nowMs);
  const destination = { write: (line: string) => void lines.push(JSON.parse(line)) };
  const logger = pino({ base: null, timestamp: false }, destination);
  watch = watchOutage(logger, { begins: "down", ends: "up", fields: { upstream: "judges" } });
});
afterEach(() => {
  jest.restoreAllMocks();
});

const fail = (reason: string) => watch.failed(reason, () => ({ reason }));
const down = (reason: string) => ({ level: 40, msg: "down", upstream: "judges", reason });

test("each kind of failure is logged once per outage, even if they alternate", () => {
  for (let call = 0; call < 1_000; call++) fail(call % 2 === 0 ? "refused" : "reset");
  expect(lines).toEqual([down("refused"), down("reset")]);
});

test("intermittent failures are one outage, even with different reasons", () => {
  for (let call = 0; call < 100; call++) {
    fail(call % 2 === 0 ? "refused" : "reset");
    watch.responded();
    nowMs += 5_000;
    watch.responded();
  }
  expect(lines).toEqual([down("refused"), down("reset")]);
  nowMs += 5_000;
  watch.responded();
  expect(lines.at(-1)).toEqual({
    level: 40,
    msg: "up",
    upstream: "judges",
    lastedMs: 495_000,
    failures: 100,
  });
  fail("reset");
  expect(lines.at(-1)).toEqual(down("reset"));
});

test("an outage lasts until it works again, however seldom it was asked", () => {
  fail("refused");
  nowMs += 20_000;
  watch.responded();
  expect(lines.at(-1)).toMatchObject({ msg: "up", lastedMs: 20_000 });
  fail("refused");
  nowMs += 3_000;
  watch.responded();
  nowMs += 9_000;
  watch.responded();
  expect(lines.at(-1)).toMatchObject({ msg: "up", lastedMs: 3_000 });
});
