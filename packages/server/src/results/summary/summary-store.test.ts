import { expect, test } from "bun:test";
import { toRollupFilter } from "./summary-store.ts";

const micros = (text: string) => Date.parse(text) * 1000;
const day = Date.UTC(2026, 10, 21) / 86_400_000;

test("the rollup answers filters by what it counts by", () => {
  const filter = { app: "a", evaluatorId: "e", runId: "r", hasRun: true, profileName: "p", pass: true };
  expect(toRollupFilter(filter, ["day", "profile"])).toEqual(filter);
  expect(toRollupFilter({ tags: {} }, [])).toEqual({});
});

test("the rollup does not answer other filters", () => {
  expect(toRollupFilter({ tags: { a: "b" } }, [])).toBeUndefined();
  expect(toRollupFilter({ datasetId: "d" }, [])).toBeUndefined();
  expect(toRollupFilter({ explainStrategy: "never" }, [])).toBeUndefined();
  expect(toRollupFilter({ minScore: 0 }, [])).toBeUndefined();
  expect(toRollupFilter({ beforeId: 5 }, [])).toBeUndefined();
  expect(toRollupFilter({}, ["tag"])).toBeUndefined();
  const addedLater: object = { addedLater: 1 };
  expect(toRollupFilter(addedLater, [])).toBeUndefined();
});

test("times at midnight UTC are days", () => {
  const midnight = micros("2026-11-21T00:00:00Z");
  expect(toRollupFilter({ createdBefore: midnight }, [])).toEqual({ untilDay: day });
  expect(toRollupFilter({ createdBefore: midnight - 300 }, [])).toEqual({ untilDay: day });
  expect(toRollupFilter({ createdBefore: midnight - 1000 }, [])).toBeUndefined();
  expect(toRollupFilter({ createdAfter: midnight - 1 }, [])).toEqual({ fromDay: day });
  expect(toRollupFilter({ createdAfter: midnight - 1000 }, [])).toEqual({ fromDay: day });
  expect(toRollupFilter({ createdAfter: midnight + 1 }, [])).toBeUndefined();
  expect(toRollupFilter({ createdAfter: midnight - 1001 }, [])).toBeUndefined();
});

test("after midnight means the day, unless a result was stored at that instant", () => {
  const midnight = micros("2026-11-21T00:00:00Z");
  expect(toRollupFilter({ createdAfter: midnight }, [])).toEqual({ fromDay: day, exceptAt: midnight });
});
