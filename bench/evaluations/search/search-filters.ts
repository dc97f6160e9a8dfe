import { endMicros, fewResults, startMicros } from "./distribution.ts";

type Body = Readonly<Record<string, unknown>>;

const instantAt = (share: number): string =>
  new Date((startMicros + share * (endMicros - startMicros)) / 1000).toISOString();

/** Every search filter with a common and a rare value, by its name in the table. "Few" is the same number at every size. */
export const searchFiltersAt = (size: number): Readonly<Record<string, Body>> => ({
  none: {},
  "none, oldest first": { order: "created_at" },
  "none, a page in the middle": { before_id: size / 2 },
  "none, in the middle, oldest first": { after_id: size / 2, order: "created_at" },
  "app, common": { app: "app-main" },
  "app, rare": { app: "app-rare" },
  "app, common, in the middle, oldest first": { app: "app-main", after_id: size / 2, order: "created_at" },
  "evaluator, common": { evaluator_id: "exact-match-2026-11-21" },
  "evaluator, rare": { evaluator_id: "judge-large-2026-11-21" },
  "family, common": { evaluator_family: "exact-match" },
  "family, rare": { evaluator_family: "judge-large" },
  "profile name, common": { profile_name: "profile-0" },
  "profile name, rare": { profile_name: "profile-2" },
  "profile id, common": { evaluator_profile_public_id: "profile-exact-match-0" },
  "profile id, rare": { evaluator_profile_public_id: "profile-exact-match-2" },
  passed: { pass: true },
  "not passed": { pass: false },
  "score, wide": { score_raw_min: 0.1, score_raw_max: 0.9 },
  "score, wide, oldest first": { score_raw_min: 0.1, score_raw_max: 0.9, order: "created_at" },
  "score, narrow": { score_raw_min: 0.412, score_raw_max: 0.447 },
  "score, at least": { score_raw_min: 0.777 },
  "score, at most": { score_raw_max: 0.333 },
  "score, wide, in the middle": { score_raw_min: 0.1, score_raw_max: 0.9, before_id: size / 2 },
  "tag, common": { tags: { environment: "production" } },
  "tag, rare": { tags: { environment: "canary" } },
  "two tags, common": { tags: { environment: "production", model: "model-1" } },
  "two tags, common and rare": { tags: { environment: "canary", model: "model-1" } },
  "dataset, common": { dataset_id: "dataset-main" },
  "dataset, rare": { dataset_id: "dataset-rare" },
  "dataset, few": { dataset_id: "dataset-few" },
  "run, large": { evaluation_run_id: "run-nightly" },
  "run, of 500": { evaluation_run_id: `run-${Math.floor(size / 500 / 10) * 5}` },
  "explained always": { explain_strategy: "always" },
  "explained on fail, rare": { explain_strategy: "on-fail" },
  "status failed": { status: "failed" },
  "status failed, common tag": { status: "failed", tags: { environment: "production" } },
  "after a time": { after_datetime: instantAt(0.5) },
  "after a time, oldest first": { after_datetime: instantAt(0.5), order: "created_at" },
  "before a time": { before_datetime: instantAt(0.5) },
  "between two times, app, common": {
    after_datetime: instantAt(0.25),
    before_datetime: instantAt(0.75),
    app: "app-main",
  },
  "between two ids": { after_id: size / 2, before_id: size / 2 + fewResults },
  "app and passed, common": { app: "app-main", pass: true },
  "app, rare, and a score": { app: "app-rare", score_raw_min: 0.5 },
  "run, large, and dataset, few": { evaluation_run_id: "run-nightly", dataset_id: "dataset-few" },
  "tag, common, and app, rare": { tags: { environment: "production" }, app: "app-rare" },
});

/** Summaries by their names in the table. */
export const summaries: Readonly<Record<string, Body>> = {
  "by day": { group_by: ["day"] },
  "by evaluator": { group_by: ["evaluator"] },
  "by day, of one app": { group_by: ["day"], app: "app-main" },
  "by run": { group_by: ["run"] },
  "by day, of a rare tag": { group_by: ["day"], tags: { environment: "canary" } },
  "by day, of a common tag": { group_by: ["day"], tags: { environment: "production" } },
  "by day, of a score": { group_by: ["day"], score_raw_min: 0.5 },
  "by tag": { group_by: ["tag"], tag: "environment" },
};
export const summariesOfTheGoals = { byDay: "by day", byTag: "by tag" } as const;
