import { expect, test } from "bun:test";
import { toRollupFilter } from "./rollup-filter.ts";

const micros = (text: string) => Date.parse(text) * 1000;
const day = Date.UTC(2026, 10, 21) / 86_400_000;

test("what results are counted by is left to the rollup", () => {
  const filter = { app: "a", evaluatorId: "e", runId: "r", profileName: "p", pass: true };
  expect(toRollupFilter(filter, ["day", "profile"])).toEqual(filter);
  expect(toRollupFilter({ tags: {} }, [])).toEqual({});
});

test("what they are not counted by is not", () => {
  expect(toRollupFilter({ tags: { a: "b" } }, [])).toBeUndefined();
  expect(toRollupFilter({ datasetId: "d" }, [])).toBeUndefined();
  expect(toRollupFilter({ explainStrategy: "never" }, [])).toBeUndefined();
  expect(toRollupFilter({ minScore: 0 }, [])).toBeUndefined();
  expect(toRollupFilter({ beforeId: 5 }, [])).toBeUndefined();
  expect(toRollupFilter({}, ["tag"])).toBeUndefined();
});

test("times are days where they are midnights of UTC", () => {
  const midnight = micros("2026-11-21T00:00:00Z");
  expect(toRollupFilter({ createdBefore: midnight }, [])).toEqual({ untilDay: day });
  expect(toRollupFilter({ createdBefore: midnight - 300 }, [])).toEqual({ untilDay: day });
  expect(toRollupFilter({ createdBefore: midnight - 1000 }, [])).toBeUndefined();
  expect(toRollupFilter({ createdAfter: midnight - 1 }, [])).toEqual({ fromDay: day });
  expect(toRollupFilter({ createdAfter: midnight - 1000 }, [])).toEqual({ fromDay: day });
  expect(toRollupFilter({ createdAfter: midnight + 1 }, [])).toBeUndefined();
  expect(toRollupFilter({ createdAfter: midnight - 1001 }, [])).toBeUndefined();
});

test("after midnight itself is the day, unless something was kept in that instant", () => {
  const midnight = micros("2026-11-21T00:00:00Z");
  expect(toRollupFilter({ createdAfter: midnight }, [])).toEqual({ fromDay: day, exceptAt: midnight });
});
