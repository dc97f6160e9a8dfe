import { expect, test } from "bun:test";
import type { Run } from "@presage/sdk";
import { groupRuns, orderRuns } from "./run-chooser.tsx";

const runs = [
  { id: "1", name: "Sandbox", dataset_id: "x" },
  { id: "2", name: "no-change", dataset_id: "y" },
  { id: "3", name: "sandbox again", dataset_id: "y" },
] as Run[];
const idsOf = (ordered: Run[]) => ordered.map(({ id }) => id);

test("Runs of the same dataset as the first chosen one come first", () => {
  expect(idsOf(orderRuns(runs, [], ""))).toEqual(["1", "2", "3"]);
  expect(idsOf(orderRuns(runs, ["3"], ""))).toEqual(["2", "3", "1"]);
});

test("A search keeps the runs with all words in their name", () => {
  expect(idsOf(orderRuns(runs, [], "SANDBOX  again"))).toEqual(["3"]);
});

test("Runs stand together under their dataset, that of the first chosen one first", () => {
  const later = { id: "4", name: "retrieval", dataset_id: "x" } as Run;
  const groups = groupRuns(orderRuns([...runs, later], ["3"], ""));
  expect(groups.map(idsOf)).toEqual([
    ["2", "3"],
    ["1", "4"],
  ]);
});
