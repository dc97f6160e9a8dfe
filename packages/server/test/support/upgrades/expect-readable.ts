import { expect } from "bun:test";
import type { TestPresage } from "../presage/presage.ts";
import { tree } from "../resources/error-taxonomies.ts";
import { awkward, awkwardScore, idOf, largestNumber, liveKey, revokedKey } from "./awkward.ts";
import type { RowWriter } from "./row-writer.ts";

/** What a client reads from the rows that a version wrote, by table. */
type Reading = [table: string, method: "GET" | "POST", path: string, expected: unknown];

const readings: Reading[] = [
  ["users", "GET", "/v1/me", { id: idOf.user, name: awkward }],
  [
    "api_keys",
    "GET",
    "/v1/api-keys",
    {
      data: expect.arrayContaining([
        expect.objectContaining({ id: idOf.key, name: awkward, revoked_at: null }),
      ]),
    },
  ],
  [
    "error_taxonomy_labels",
    "GET",
    `/v1/error-taxonomy-revision/${idOf.taxonomyRevision}`,
    {
      error_taxonomy_name: awkward.trim(),
      labels: ["production"],
      body: tree,
      metadata: { author: awkward },
    },
  ],
  [
    "evaluator_profiles",
    "GET",
    "/v1/evaluator-profiles",
    {
      evaluator_profiles: expect.arrayContaining([
        expect.objectContaining({ public_id: idOf.profile, name: "ours", description: awkward }),
      ]),
    },
  ],
  [
    "evaluation_results",
    "GET",
    "/v1/evaluation-results/1",
    {
      evaluation_result: expect.objectContaining({
        pass: true,
        score_raw: awkwardScore,
        evaluated_model_output: awkward,
        evaluated_model_retrieved_context: [awkward],
        explanation: awkward,
        tags: { trajectory_id: "t-1", kind: awkward },
      }),
    },
  ],
  // The newest come first, and failures only if requested.
  [
    "evaluation_results",
    "POST",
    "/v1/evaluation-results/search",
    { results: [{ id: "2" }, { id: "1", correction: { pass: false, comment: awkward } }] },
  ],
  [
    "evaluation_labels",
    "GET",
    "/v1/evaluation-results/1/labels",
    { data: [{ label: "fail", score: awkwardScore, annotator: awkward }] },
  ],
  [
    "label_samples",
    "GET",
    `/v1/runs/${idOf.run}/label-samples`,
    { data: [{ drawn_from: 3, data: [{ result_id: "1", probability: awkwardScore, labelled: true }] }] },
  ],
  [
    "evaluation_counts",
    "POST",
    "/v1/evaluation-results/summary",
    { source: "rollups", groups: [{ count: 3, passed: 1, not_passed: 1, failed: 1, clusters: 2 }] },
  ],
  [
    "usage_counts",
    "GET",
    "/v1/usage?step=hour",
    { data: [{ operation: "predict", requests: 3, prompt_tokens: 2 ** 40, completion_tokens: 5 }] },
  ],
  [
    "budgets",
    "GET",
    "/v1/budgets",
    { data: [{ api_key_id: idOf.key, limit: 12.5, stops: true, state: "ok" }] },
  ],
  ["projects", "GET", "/v1/projects", { projects: [{ id: idOf.project, name: awkward.trim() }] }],
  [
    "runs",
    "GET",
    `/v1/experiments/${idOf.experiment}`,
    { experiment: { name: "seeds", tags: { kind: awkward }, metadata: { seed: 7 } } },
  ],
  [
    "datasets",
    "GET",
    `/v1/datasets/${idOf.dataset}/samples`,
    {
      data: [
        {
          trajectory_id: awkward,
          context: { task_context: awkward },
          interaction: { state: awkward, action: "open fridge" },
          next_state: awkward,
        },
      ],
    },
  ],
  ["runs", "GET", `/v1/runs/${idOf.run}`, { name: awkward, status: "finished", notes: [awkward] }],
  ["shares", "GET", "/v1/shares", { data: [{ id: idOf.share, ids: [idOf.run], with_texts: true }] }],
  [
    "runs",
    "GET",
    `/v1/runs/${idOf.run}/samples`,
    { data: [{ prediction: { id: idOf.prediction }, verdicts: [{ pass: true, score: awkwardScore }] }] },
  ],
  ["predictions", "GET", `/v1/predictions/${idOf.livePrediction}`, { output: awkward, reasoning: awkward }],
  ["goals", "GET", "/v1/goals", { data: [{ run_name: awkward, pass_rate: awkwardScore }] }],
  ["worlds", "GET", "/v1/worlds/shop", { revision: 1, config: { description: awkward } }],
  [
    "reality_replays",
    "GET",
    `/v1/reality-checks/${idOf.realityCheck}`,
    { name: awkward, failed: 1, figures: { counts: { only_simulated: 1 }, policies: [{ policy: awkward }] } },
  ],
  [
    "reality_steps",
    "GET",
    `/v1/episodes/${idOf.episode}/reality`,
    { real: false, diverged_at: 1, real_steps: [{ observation: awkward, reward: awkwardScore }] },
  ],
  ["environments", "GET", "/v1/environments/kitchen", { revision: 1, config: { description: awkward } }],
  [
    "episodes",
    "GET",
    `/v1/episodes/${idOf.episode}`,
    { outcome: "success", stop_reason: awkward, reward: awkwardScore, steps_taken: 1 },
  ],
  [
    "result_deletions",
    "GET",
    `/v1/evaluation-result-deletions/${idOf.deletion}`,
    { status: "finished", count: largestNumber, deleted: 3 },
  ],
  [
    "audit_events",
    "GET",
    "/v1/audit-events",
    {
      data: [
        {
          id: idOf.auditEvent,
          action: "api_key.create",
          actor: { name: awkward },
          detail: { name: awkward },
        },
      ],
    },
  ],
];

export async function expectReadable(presage: TestPresage, { has }: RowWriter): Promise<void> {
  const call = (key: string, method: string, path: string) =>
    presage.call(method, path, method === "POST" ? {} : undefined, { "x-api-key": key });
  expect((await call(revokedKey, "GET", "/v1/me")).status).toBe(401);
  for (const [table, method, path, expected] of readings) {
    if (!has(table)) continue;
    const response = await call(liveKey, method, path);
    const text = await response.text();
    expect([path, response.status, text]).toEqual([path, 200, expect.any(String)]);
    expect(JSON.parse(text)).toMatchObject(expected as object);
  }
}
