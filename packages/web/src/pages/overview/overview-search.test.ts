import { expect, test } from "bun:test";
import { readOverviewSearch } from "./overview-search.ts";

test("the period and the chosen rate are read, and invalid values are ignored", () => {
  expect(readOverviewSearch({ period: "30d", rate: "exact-match~p~1" })).toEqual({
    period: "30d",
    rate: "exact-match~p~1",
  });
  expect(readOverviewSearch({ period: "1y", rate: 7, other: "x" })).toEqual({});
});
