import { expect, test } from "bun:test";
import { type EnvironmentRow, environmentColumns } from "./environment-columns.tsx";

test("A rate without an interval is not in a copied table either", () => {
  const success = environmentColumns.find(({ id }) => id === "success");
  const rateOf = (success_interval: { lower: number; upper: number } | null) =>
    success?.value?.({ figures: { success_rate: 1, success_interval } } as EnvironmentRow) ?? "";
  expect([rateOf(null), rateOf({ lower: 0.3, upper: 1 })]).toEqual(["", 1]);
});
