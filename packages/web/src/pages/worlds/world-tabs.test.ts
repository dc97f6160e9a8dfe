import { expect, test } from "bun:test";
import type { ListedRun } from "@presage/sdk";
import { orderRuns } from "./world-tabs.tsx";

const run = (id: string, target: ListedRun["target"], more: Partial<ListedRun> = {}) =>
  ({ id, target, status: "finished", mode: "teacher-forced", dataset_id: "d", ...more }) as ListedRun;

test("the newest revision is first, and its newest run is compared with that of the revision before on the same dataset", () => {
  const { shown, pairs } = orderRuns("shop", [
    run("again", { world: "shop@1" }),
    run("newest", { world: "shop@3" }),
    run("elsewhere", { world: "shop@2" }, { dataset_id: "other" }),
    run("beside", { baseline: "no-change" }),
    run("unfinished", { world: "shop@4" }, { status: "running" }),
    run("first", { world: "shop@1" }),
  ]);
  expect(shown.map(({ id }) => id)).toEqual([
    "unfinished",
    "newest",
    "elsewhere",
    "again",
    "first",
    "beside",
  ]);
  expect(pairs.map(({ before, after }) => [before.id, after.id])).toEqual([["again", "newest"]]);
});
