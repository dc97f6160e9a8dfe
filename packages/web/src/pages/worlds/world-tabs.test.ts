import { expect, test } from "bun:test";
import type { ListedRun, World, WorldConfig } from "@presage/sdk";
import { changesInWords } from "../../parts/worlds.ts";
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

test("each setting that changes an answer, or what becomes of it, is told", () => {
  const methods: ["agreement"] = ["agreement"];
  const changes = (before: WorldConfig, after: WorldConfig) => {
    const [old, now] = [before, after].map(
      (config) => ({ config, pinned: { examples: null, calibration: null } }) as World,
    );
    return old && now ? changesInWords(old, now) : [];
  };
  const more = { escalate_to: "large", hide_abstained: true, samples: 9, min_confidence: 0 };
  expect(changes({ confidence: { methods } }, { confidence: { methods, ...more } })).toEqual([
    "Confidence: by agreement → by agreement; below 0\u00a0% it is to abstain",
    "Answers compared: 5 → 9",
    "Escalates to: none → large",
    "Answers that abstain: none → have no text",
  ]);
  const examples = { dataset: "d" };
  expect(changes({ examples }, { examples: { ...examples, exclude_errors: true } })).toEqual([
    "Filter: none → no tool errors",
  ]);
});
