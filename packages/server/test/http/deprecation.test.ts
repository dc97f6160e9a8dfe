import { expect, test } from "bun:test";
import { usePresage } from "../support/presage/use-presage.ts";

const presage = usePresage();
const nowhere = "00000000-0000-4000-8000-000000000000";

async function counted(): Promise<number> {
  const text = await (await presage.call("GET", "/metrics")).text();
  return Number(/^presage_deprecated_requests_total\{key_id="[^"]+"\} (\d+)$/m.exec(text)?.[1] ?? 0);
}

const profile = `/v1/evaluator-profiles/${nowhere}`;

test.each([
  ["a body rejected by its schema", 422, "POST", "/v1/evaluate", { criteria: 1 }],
  ["an unknown evaluator", 422, "POST", "/v1/evaluate", { output: "x", criteria: [{ criterion_id: "no" }] }],
  ["an empty old list", 422, "POST", "/v1/evaluate", { criteria: [] }],
  ["an invalid import", 422, "POST", "/v1/evaluation-results/batch", { evaluation_results: [{ label: 1 }] }],
  ["an invalid search", 422, "POST", "/v1/evaluation-results/search", { criterion_profile_name: 1 }],
  ["an invalid summary", 422, "POST", "/v1/evaluation-results/summary", { evaluator_profile_name: 1 }],
  [
    "an invalid export",
    422,
    "GET",
    "/v1/evaluation-results/export?criterion_profile_name=a&pass=no+idea",
    undefined,
  ],
  ["an invalid list", 422, "GET", "/v1/evaluator-profiles?is_patronus_managed=maybe", undefined],
  ["a list", 200, "GET", "/v1/evaluator-profiles?is_patronus_managed=false", undefined],
  ["an export", 200, "GET", "/v1/evaluation-results/export?criterion_profile_name=a", undefined],
  ["a profile without a config", 422, "POST", "/v1/evaluator-profiles", { evaluator_id: "exact-match" }],
  ["an unknown profile", 404, "POST", `${profile}/revision`, { config: {}, evaluator_id: "exact-match" }],
  [
    "an invalid profile id",
    422,
    "PATCH",
    "/v1/evaluator-profiles/x/archive",
    { evaluator_id: "exact-match" },
  ],
])("Old names are reported and counted with %s: %d", async (_, status, method, path, body) => {
  const before = await counted();
  const response = await presage.call(method, path, body);
  expect([response.status, response.headers.get("deprecation")]).toEqual([
    status,
    expect.stringMatching(/^@\d+$/),
  ]);
  await response.text();
  expect(await counted()).toBe(before + 1);
});

test.each([
  ["the key is not known", { output: "x" }, { "x-api-key": "unknown" }],
  ["the body is not JSON", '{"output":', undefined],
  [
    "the old names are null",
    { output: null, criteria: null, evaluators: [{ evaluator_id: null }] },
    undefined,
  ],
])("Nothing is reported where %s", async (_, body, headers) => {
  const response = await presage.call("POST", "/v1/evaluate", body, headers);
  expect(response.ok).toBe(false);
  expect(response.headers.has("deprecation")).toBe(false);
});
