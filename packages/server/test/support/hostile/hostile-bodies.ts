import { fillers } from "./json-of-size.ts";

export interface HostileBody {
  name: string;
  method: string;
  path: string;
  body(): Uint8Array;
}

/** A place in the body of a route where any value can be put. */
interface Place {
  method?: string;
  path: string;
  /** The body, with `…` where the value goes. */
  around: string;
}

const interaction = '"interaction":{"state":"a hall","action":"look"}';
const sample = '"evaluators":[{"evaluator":"exact-match"}],"capture":"none"';
const id = "0190b6a5-0000-7000-8000-000000000000";

/** Routes that accept bodies up to the server's limit. */
const wide: Place[] = [
  { path: "/v1/predict", around: `{${interaction},"params":{"x":…}}` },
  { path: "/v1/predict", around: `{${interaction},"context":…}` },
  { path: "/v1/predict", around: '{"interaction":{"action":"look","state":…}}' },
  { path: "/v1/chat/completions", around: '{"messages":…}' },
  { path: "/v1/chat/completions", around: '{"messages":[{"role":"user","content":…}]}' },
  { path: "/v1/evaluate", around: `{${sample},"evaluated_model_output":"x","tags":…}` },
  { path: "/v1/evaluate", around: '{"evaluated_model_output":"x","evaluators":…}' },
  {
    path: "/v1/evaluate",
    around: `{${sample},"evaluated_model_gold_answer":"x","evaluated_model_output":…}`,
  },
  { path: "/v1/evaluate", around: `{${sample},"evaluated_model_output":"x","retrieved_context":…}` },
  {
    path: "/v1/evaluate",
    around: `{${sample},"evaluated_model_output":"x","evaluated_model_params":{"x":…}}`,
  },
  { path: "/v1/environments/none/tasks", around: '{"initial_state":…}' },
  { path: "/v1/environments/none/tasks", around: '{"initial_state":"a","metadata":{"x":…}}' },
  { path: "/v1/evaluation-results/batch", around: '{"evaluation_results":…}' },
  { path: "/v1/evaluation-results/batch", around: '{"evaluation_results":[{"evaluator_id":…}]}' },
  {
    path: "/v1/evaluation-results/batch",
    around: '{"evaluation_results":[{"evaluator_id":"x","evaluation_duration":…}]}',
  },
  {
    path: "/v1/evaluation-results/batch",
    around: '{"evaluation_results":[{"evaluator_id":"x","pass":true,"evaluated_model_output":…}]}',
  },
  {
    path: "/v1/evaluations/batch",
    around: '{"evaluations":[{"evaluator_id":"x","log_id":"x","metadata":{"x":…}}]}',
  },
];

/** Routes whose bodies are short. */
const narrow: Place[] = [
  { path: "/v1/api-keys", around: '{"name":…}' },
  { path: "/v1/environments", around: '{"name":"a","stop":…}' },
  {
    path: "/v1/episodes",
    around: '{"environment":"sandbox","task":{"initial_state":"a","metadata":{"x":…}}}',
  },
  { path: "/sandbox/call", around: '{"name":"act","input":…}' },
  { path: "/sandbox/task_range", around: '{"split":…}' },
  { path: "/v1/error-taxonomy-revision", around: '{"error_taxonomy_name":"a","body":…}' },
  { path: "/v1/error-taxonomy-revision", around: '{"error_taxonomy_name":"a","body":[],"metadata":…}' },
  { path: `/v1/error-taxonomy-revision/${id}/set-labels`, around: '{"labels":…}' },
  { path: `/v1/error-taxonomy-revision/${id}/remove-labels`, around: '{"labels":…}' },
  { path: "/v1/evaluation-results/search", around: '{"limit":1,"tags":…}' },
  { path: "/v1/evaluation-results/search", around: "…" },
  { path: "/v1/evaluation-results/summary", around: '{"group_by":…}' },
  { path: "/v1/evaluation-results/1/correction", around: '{"pass":true,"comment":…}' },
  {
    path: "/v1/evaluator-profiles",
    around: '{"evaluator_family":"json-schema","name":"a","config":{"schema":{"enum":…}}}',
  },
  {
    path: "/v1/evaluator-profiles",
    around: '{"evaluator_family":"regex","name":"a","config":{"pattern":…}}',
  },
  {
    path: "/v1/evaluator-profiles",
    around: '{"evaluator_family":"contains","name":"a","config":{"substrings":…}}',
  },
  { path: `/v1/evaluator-profiles/${id}/revision`, around: '{"config":{"x":…}}' },
  { method: "PATCH", path: `/v1/evaluator-profiles/${id}/archive`, around: '{"evaluator_family":…}' },
  { path: "/auth/local", around: '{"token":…}' },
];

/** Every filler in every place of the routes that accept long bodies. */
export function longBodies(bytes: number): HostileBody[] {
  return shapesOf(wide, bytes);
}

/** The same for the routes that accept short bodies. */
export function shortBodies(bytes: number): HostileBody[] {
  return shapesOf(narrow, bytes);
}

/** Bodies of a few megabytes whose responses are eighty times as long. */
export function bodiesWithLongResponses(): HostileBody[] {
  const evaluators = Array.from({ length: 20 }, () => ({ evaluator: "exact-match" }));
  const contexts = { plain: "x", escaped: "\u0001", quoted: '"', wide: "\u4e16" };
  return Object.entries(contexts).map(([what, character]) => ({
    name: `POST /v1/evaluate of 20 evaluators and 50 contexts (${what})`,
    method: "POST",
    path: "/v1/evaluate",
    body: () =>
      new TextEncoder().encode(
        JSON.stringify({
          evaluators,
          capture: "none",
          evaluated_model_output: "x",
          evaluated_model_gold_answer: "y",
          evaluated_model_retrieved_context: Array.from({ length: 50 }, () => character.repeat(16_000)),
        }),
      ),
  }));
}

function shapesOf(places: readonly Place[], bytes: number): HostileBody[] {
  return places.flatMap(({ method = "POST", path, around }) => {
    const [head = "", tail = ""] = around.split("…");
    return Object.entries(fillers).map(([what, fill]) => ({
      name: `${method} ${path} ${around.replace("…", `(${what})`)}`,
      method,
      path,
      body: () => fill(bytes, head, tail),
    }));
  });
}
