import { beforeAll, expect, test } from "bun:test";
import { EvaluationResultDeletion, SessionListResponse } from "@presage/contract";
import { writeUsage } from "../../src/usage/usage-store.ts";
import { eventually } from "../support/eventually.ts";
import { callWithKey } from "../support/presage/presage.ts";
import { usePresage } from "../support/presage/use-presage.ts";
import { keyOfAnotherAccount } from "../support/resources/other-account.ts";
import { totalsOf, usageClient } from "../support/resources/usage.ts";
import { signInLocally } from "../support/sign-in/session.ts";
import { onAnyDatabase } from "../support/store/databases.ts";
import { openStore } from "../support/store/open-store.ts";
import { useUpstream } from "../support/upstream/use-upstream.ts";

/** Part of every text of the first account, and so never in a response to the second. */
const mark = "mark-of-the-first-account";
const environment = `environment-with-${mark}`;

onAnyDatabase((database) => {
  const upstream = useUpstream();
  const presage = usePresage({ database, PRESAGE_UPSTREAM_URL: upstream.url, PRESAGE_CAPTURE: "all" });
  let stranger: Record<string, string>;
  /** The first account's resources. */
  const own = {
    result: "",
    deletion: "",
    profile: "",
    revision: "",
    project: "",
    experiment: "",
    dataset: "",
    prediction: "",
    run: "",
    otherRun: "",
    check: "",
    episode: "",
    apiKey: "",
    session: "",
    share: "",
    user: "",
  };

  beforeAll(async () => {
    stranger = { "x-api-key": await keyOfAnotherAccount(presage.databaseUrl) };
    const make = async (path: string, body: unknown) => {
      const response = await presage.call("POST", path, body);
      expect(response.ok).toBe(true);
      // biome-ignore lint/suspicious/noExplicitAny: each of the answers has a shape of its own
      return (await response.json()) as any;
    };
    const profile = await make("/v1/evaluator-profiles", {
      evaluator_family: "contains",
      name: mark,
      config: { substrings: [mark] },
      description: mark,
    });
    own.profile = profile.evaluator_profile.public_id;
    const { results } = await make("/v1/evaluate", {
      evaluators: [{ evaluator: "contains", profile_name: mark }],
      evaluated_model_input: mark,
      evaluated_model_output: mark,
      app: mark,
      tags: { mark },
      dataset_id: mark,
      evaluation_run_id: mark,
    });
    own.result = results[0].evaluation_result.id;
    await make(`/v1/evaluation-results/${own.result}/correction`, { pass: false, comment: mark });
    const deletion = await presage.call("DELETE", "/v1/evaluation-results?app=none&expected_count=0");
    own.deletion = EvaluationResultDeletion.parse(await deletion.json()).id;
    const taxonomy = await make("/v1/error-taxonomy-revision", {
      error_taxonomy_name: mark,
      body: { categories: [mark] },
      labels: [mark],
    });
    own.revision = taxonomy.error_taxonomy_revision.id;
    own.project = (await make("/v1/projects", { name: mark })).id;
    const experiment = { project_id: own.project, name: mark, tags: { mark }, metadata: { mark } };
    own.experiment = (await make("/v1/experiments", experiment)).experiment.id;
    own.dataset = (await make("/v1/datasets", { name: mark, description: mark, tags: { mark } })).id;
    const sample = {
      trajectory_id: mark,
      step: 0,
      interaction: { state: mark, action: mark },
      next_state: mark,
    };
    await make(`/v1/datasets/${own.dataset}/revisions`, sample);
    own.run = (
      await make("/v1/runs", {
        dataset_id: own.dataset,
        name: mark,
        tags: { mark },
        target: { predictions: "imported" },
        evaluators: [{ evaluator: "exact-match" }],
      })
    ).id;
    own.otherRun = (
      await make("/v1/runs", {
        dataset_id: own.dataset,
        target: { baseline: "no-change" },
        evaluators: [{ evaluator: "exact-match" }],
      })
    ).id;
    own.share = (await make("/v1/shares", { kind: "run", ids: [own.run] })).id;
    await make("/v1/environments", { name: environment, description: mark });
    const pairs = [{ task_id: mark, episode_id: mark, policy: mark, simulated: true, real: false }];
    own.check = (await make("/v1/reality-checks", { name: mark, environment, pairs })).id;
    await make("/v1/worlds", { name: environment, description: mark, instructions: mark });
    await make(`/v1/environments/${environment}/tasks`, { initial_state: mark, prompt: mark, goal: mark });
    const goal = { evaluator: "exact-match", pass_rate: 0.5 };
    expect((await presage.call("PUT", `/v1/goals/${mark}`, goal)).status).toBe(200);
    own.episode = (await make("/v1/episodes", { environment })).episode_id;
    await make(`/v1/episodes/${own.episode}/step`, { action: mark });
    await make(`/v1/runs/${own.run}/predictions`, { index: 0, prediction: mark });
    await make("/v1/evaluation-results/batch", {
      evaluation_results: [{ evaluator_id: mark, experiment_id: own.experiment, dataset_sample_id: mark }],
    });
    await make("/v1/predict", {
      context: { task_context: mark },
      interaction: { state: mark, action: mark },
    });
    own.prediction = await eventually(
      async () => {
        const response = await presage.call("GET", "/v1/predictions?source=live");
        return ((await response.json()) as { data: { id: string }[] }).data[0]?.id ?? "";
      },
      (id) => id !== "",
    );
    own.apiKey = (await make("/v1/api-keys", { name: mark })).id;
    await using store = await openStore(presage.databaseUrl);
    own.user = store.owner.id;
    const use = { accountId: store.owner.account_id, keyId: own.apiKey, totalMs: 5, upstreamMs: 3 };
    await writeUsage(store.database, new Map([["", totalsOf(new Date(), use)]]));
    const browser = await signInLocally(presage, { "user-agent": mark });
    const sessions = await browser.fetch(`${presage.url}/v1/sessions`);
    own.session = SessionListResponse.parse(await sessions.json()).data[0]?.id ?? "";
  });

  /** Calls that name a resource of the first account by its id. */
  const byId = (): [method: string, path: string, body?: unknown][] => [
    ["GET", `/v1/evaluation-results/${own.result}`],
    ["POST", `/v1/evaluation-results/${own.result}/correction`, { pass: true }],
    ["DELETE", `/v1/evaluation-results/${own.result}/correction`],
    ["GET", `/v1/evaluation-results/${own.result}/labels`],
    ["POST", `/v1/evaluation-results/${own.result}/labels`, { label: "pass" }],
    ["DELETE", `/v1/evaluation-results/${own.result}`],
    ["GET", `/v1/evaluation-result-deletions/${own.deletion}`],
    ["PATCH", `/v1/evaluator-profiles/${own.profile}/archive`],
    ["POST", `/v1/evaluator-profiles/${own.profile}/revision`, { config: { substrings: ["x"] } }],
    ["GET", `/v1/evaluator-profiles/${own.profile}/agreement`],
    ["GET", `/v1/evaluator-profiles/${own.profile}/disagreements`],
    ["GET", `/v1/evaluator-criteria/${own.profile}/disagreements`],
    ["GET", `/v1/error-taxonomy-revision/${own.revision}`],
    ["GET", `/v1/error-taxonomy-revision/${own.revision}/findings`],
    ["GET", `/v1/error-taxonomy-revision/${own.revision}/recent-findings`],
    ["POST", `/v1/error-taxonomy-revision/${own.revision}/set-labels`, { labels: ["x"] }],
    ["POST", `/v1/error-taxonomy-revision/${own.revision}/remove-labels`, { labels: [mark] }],
    ["GET", `/v1/projects/${own.project}`],
    ["GET", `/v1/experiments/${own.experiment}`],
    ["POST", `/v1/experiments/${own.experiment}`, { metadata: {} }],
    ["GET", `/v1/datasets/${own.dataset}`],
    ["DELETE", `/v1/datasets/${own.dataset}`],
    ["GET", `/v1/datasets/${own.dataset}/revisions`],
    ["POST", `/v1/datasets/${own.dataset}/revisions`, {}],
    ["GET", `/v1/datasets/${own.dataset}/samples`],
    ["GET", `/v1/datasets/${own.dataset}/samples?revision=1`],
    ["GET", `/v1/datasets/${own.dataset}/trajectories`],
    ["GET", `/v1/datasets/${own.dataset}/trajectories?contains=${mark}&order=-steps`],
    ["GET", `/v1/datasets/${own.dataset}/trajectories/${mark}`],
    ["GET", `/v1/datasets/${own.dataset}/trajectories/${mark}?limit=1`],
    ["GET", `/v1/datasets/${own.dataset}/export`],
    ["GET", `/v1/predictions/${own.prediction}`],
    ["DELETE", `/v1/predictions/${own.prediction}`],
    ["DELETE", `/v1/goals/${mark}`],
    ["GET", `/v1/runs/${own.run}`],
    ["DELETE", `/v1/runs/${own.run}`],
    ["GET", `/v1/runs/${own.run}/events`],
    ["GET", `/v1/runs/${own.run}/samples`],
    ["GET", `/v1/runs/${own.run}/samples?text_limit=100&order=-score&order_evaluator=exact-match`],
    ["GET", `/v1/runs/${own.run}/export`],
    ["GET", `/v1/runs/${own.run}/report`],
    ["GET", `/v1/runs/${own.run}/calibration?evaluator=exact-match`],
    ["GET", `/v1/worlds/${environment}/calibration`],
    ["GET", `/v1/worlds/${environment}/coverage`],
    ["POST", `/v1/runs/${own.run}/label-sample`, { size: 1 }],
    ["GET", `/v1/runs/${own.run}/label-samples`],
    ["GET", `/v1/agreement?run=${own.run}`],
    ["POST", `/v1/runs/${own.run}/predictions`, { index: 0, prediction: "x" }],
    ["POST", `/v1/runs/${own.run}/evaluators`, { evaluators: [{ evaluator: "exact-match" }] }],
    ["POST", `/v1/runs/${own.run}/cancel`],
    ["POST", `/v1/runs/${own.run}/pause`],
    ["POST", `/v1/runs/${own.run}/resume`],
    ["POST", `/v1/runs/${own.run}/finish`],
    ["GET", `/v1/reality-checks/${own.check}`],
    ["GET", `/v1/reality-checks/${own.check}/episodes`],
    ["POST", `/v1/reality-checks/${own.check}/cancel`],
    ["POST", `/v1/reality-checks/${own.check}/resume`],
    ["POST", `/v1/reality-checks/${own.check}/run`, {}],
    ["DELETE", `/v1/reality-checks/${own.check}`],
    ["GET", `/v1/environments/${environment}/reality`],
    ["GET", `/v1/worlds/${environment}`],
    ["PATCH", `/v1/worlds/${environment}`, { archived: true }],
    ["DELETE", `/v1/worlds/${environment}`],
    ["GET", `/v1/worlds/${environment}/revisions`],
    ["POST", `/v1/worlds/${environment}/calibrations`, { run_id: own.run }],
    ["POST", `/v1/worlds/${environment}/preview`, { interaction: { state: "x", action: "y" } }],
    ["GET", `/v1/environments/${environment}`],
    ["PATCH", `/v1/environments/${environment}`, { max_steps: 1 }],
    ["DELETE", `/v1/environments/${environment}?with_episodes=true`],
    ["GET", `/v1/environments/${environment}/revisions`],
    ["GET", `/v1/environments/${environment}/tasks`],
    ["POST", `/v1/environments/${environment}/tasks`, { initial_state: "x" }],
    ["GET", `/v1/environments/${environment}/openenv/ws`],
    ["GET", `/v1/environments/${environment}/openenv/schema`],
    ["GET", `/v1/environments/${environment}/openenv/metadata`],
    ["GET", `/v1/environments/${environment}/openenv/health`],
    ["GET", `/v1/environments/${environment}/openenv/openapi.json`],
    ["POST", `/v1/environments/${environment}/openenv/mcp`, { id: 1 }],
    ["GET", `/v1/environments/${environment}/openenv/list_environments`],
    ["GET", `/v1/environments/${environment}/openenv/${environment}/splits`],
    ["POST", `/v1/environments/${environment}/openenv/${environment}/tasks`, { split: "train" }],
    ["POST", `/v1/environments/${environment}/openenv/${environment}/num_tasks`, { split: "train" }],
    ["POST", `/v1/environments/${environment}/openenv/${environment}/task`, { split: "train", index: 0 }],
    ["POST", `/v1/environments/${environment}/openenv/${environment}/task_range`, { split: "train" }],
    ["POST", "/v1/episodes", { environment }],
    ["GET", `/v1/episodes?environment=${environment}`],
    ["GET", `/v1/episodes/figures?environment=${environment}`],
    ["GET", `/v1/episodes/${own.episode}`],
    ["GET", `/v1/episodes/${own.episode}/reality`],
    ["DELETE", `/v1/episodes/${own.episode}`],
    ["POST", `/v1/episodes/${own.episode}/step`, { action: "x" }],
    ["GET", `/v1/comparisons?runs=${own.run},${own.otherRun}`],
    ["GET", `/v1/comparisons/samples?runs=${own.run},${own.otherRun}&evaluator=exact-match&direction=worse`],
    ["PATCH", `/v1/evaluator-criteria/${own.profile}/archive`],
    ["GET", `/v1/evaluator-criteria/${own.profile}/agreement`],
    ["POST", `/v1/evaluator-criteria/${own.profile}/revision`, { config: { substrings: ["x"] } }],
    ["PATCH", `/v1/api-keys/${own.apiKey}`, { rate_limit_rpm: 1 }],
    ["DELETE", `/v1/api-keys/${own.apiKey}`],
    ["DELETE", `/v1/sessions/${own.session}`],
    ["DELETE", `/v1/shares/${own.share}`],
    ["POST", "/v1/shares", { kind: "run", ids: [own.run] }],
    ["PATCH", `/v1/members/${own.user}`, { role: "viewer" }],
    ["PATCH", "/v1/budgets", { api_key_id: own.apiKey, limit: null }],
  ];

  /** Calls that list, search or count; none may reveal anything of the first account. */
  const lists = (): [method: string, path: string, body?: unknown][] => [
    ["GET", "/v1/me"],
    ["GET", "/v1/whoami"],
    ["GET", "/v1/apps"],
    ["GET", "/v1/projects"],
    ["GET", "/v1/experiments"],
    ["GET", "/v1/datasets"],
    ["GET", "/v1/predictions"],
    ["GET", "/v1/predictions?source=live&status=success&deployment=default&model=test-model"],
    ["DELETE", "/v1/predictions?source=live&before=2100-01-01"],
    ["GET", "/v1/predictions/count"],
    ["GET", "/v1/predictions/values"],
    ["POST", "/v1/evaluation-results/review", {}],
    ["GET", "/v1/goals"],
    ["GET", "/v1/headlines"],
    ["GET", "/v1/runs"],
    ["GET", "/v1/environments"],
    ["GET", "/v1/reality-checks"],
    ["GET", "/v1/worlds"],
    ["GET", "/v1/episodes"],
    ["GET", "/v1/episodes/figures?by=revision"],
    ["GET", "/v1/episodes/export"],
    ["GET", "/v1/predictions/export?content=true"],
    ["GET", `/v1/runs?dataset_id=${own.dataset}&name=${mark}`],
    ["GET", `/v1/experiments?project_id=${own.project}`],
    ["GET", "/v1/evaluator-criteria?include_archived=true&limit=1000"],
    ["GET", "/v1/evaluation-results/tags"],
    ["GET", "/v1/api-keys"],
    ["GET", "/v1/sessions"],
    ["GET", "/v1/shares"],
    ["GET", "/v1/members"],
    ["GET", "/v1/audit-events"],
    ["GET", `/v1/audit-events?object_id=${own.dataset}`],
    ["GET", "/v1/usage"],
    ["GET", `/v1/usage?api_key_id=${own.apiKey}`],
    ["GET", "/v1/usage/latency"],
    ["GET", "/v1/usage/people"],
    ["GET", "/v1/budgets"],
    ["GET", "/v1/models"],
    ["GET", "/v1/deployments"],
    ["GET", "/v1/real-environments"],
    ["GET", "/v1/evaluators"],
    ["GET", "/v1/evaluator-families"],
    ["GET", "/v1/evaluator-profiles?include_archived=true&limit=1000"],
    ["GET", `/v1/evaluator-profiles?public_id=${own.profile}`],
    ["GET", "/v1/error-taxonomy-revision"],
    ["GET", `/v1/error-taxonomy-revision?name=${mark}`],
    ["GET", `/v1/error-taxonomy-revision?label=${mark}`],
    ["DELETE", "/v1/evaluation-results?dry_run=true"],
    ["GET", "/v1/evaluation-results/export"],
    ["GET", "/v1/evaluation-results/export?format=csv"],
    ["POST", "/v1/evaluation-results/search", { order: "dataset_sample_id" }],
    ...[
      {},
      { app: mark },
      { tags: { mark } },
      { score_raw_min: 0 },
      { after_id: 0 },
      { dataset_id: mark },
      { experiment_id: own.experiment },
      { project_id: own.project },
      { explain: true },
      { evaluator_id: `external:${mark}` },
    ].flatMap((filter): [string, string, unknown][] => [
      ["POST", "/v1/evaluation-results/search", filter],
      ["POST", "/v1/evaluation-results/summary", { ...filter, group_by: ["app", "run", "profile"] }],
      ["POST", "/v1/evaluation-results/summary", { ...filter, group_by: ["tag"], tag: "mark" }],
    ]),
  ];

  test("Another account's resources are not found by id", async () => {
    for (const [method, path, body] of byId()) {
      const response = await callWithKey(presage.url, method, path, body, stranger);
      expect(`${method} ${path} ${response.status}`).toBe(`${method} ${path} 404`);
      expect(await response.text()).not.toContain(mark);
    }
  });

  test("No list, search, summary or export shows data of another account", async () => {
    for (const [method, path, body] of lists()) {
      const response = await callWithKey(presage.url, method, path, body, stranger);
      expect(`${path} ${response.status}`).toBe(`${path} 200`);
      expect(await response.text()).not.toContain(mark);
    }
  });

  test("A result of another account is no place in an order, as one that nobody has", async () => {
    for (const after_id of [own.result, 999_999_999]) {
      const body = { order: "dataset_sample_id", after_id };
      const response = await callWithKey(
        presage.url,
        "POST",
        "/v1/evaluation-results/search",
        body,
        stranger,
      );
      expect(response.status).toBe(422);
      expect((await response.text()).replace(String(after_id), "…")).toContain(
        "There is no such result, or it was deleted",
      );
    }
  });

  test("No usage is shown to another account, though there is some", async () => {
    const { list, latency } = usageClient(() => presage);
    // The stranger's own calls above may have been counted by now.
    expect((await list({}, stranger)).data.map(({ api_key_id }) => api_key_id)).not.toContain(own.apiKey);
    expect((await latency({}, stranger)).overall.count).toBe(0);
    const { data, api_keys } = await list();
    expect(data).toContainEqual(expect.objectContaining({ api_key_id: own.apiKey, requests: 1 }));
    expect(api_keys).toContainEqual(expect.objectContaining({ id: own.apiKey, name: mark }));
    expect((await latency()).overall.count).toBeGreaterThan(0);
  });

  test("Another account's profile cannot be used, and its name is available", async () => {
    const evaluate = {
      evaluators: [{ evaluator: "contains", profile_name: mark }],
      evaluated_model_output: "x",
    };
    expect((await callWithKey(presage.url, "POST", "/v1/evaluate", evaluate, stranger)).status).toBe(422);
    const profile = { evaluator_family: "contains", name: mark, config: { substrings: ["x"] } };
    expect((await callWithKey(presage.url, "POST", "/v1/evaluator-profiles", profile, stranger)).status).toBe(
      201,
    );
  });

  test("Another account's dataset cannot be predicted", async () => {
    const run = {
      dataset_id: own.dataset,
      target: { baseline: "no-change" },
      evaluators: [{ evaluator: "exact-match" }],
    };
    const response = await callWithKey(presage.url, "POST", "/v1/runs", run, stranger);
    expect(response.status).toBe(422);
    expect(await response.text()).not.toContain(mark);
  });

  test("Everything still exists for its own account", async () => {
    const [result] = [await presage.call("GET", `/v1/evaluation-results/${own.result}`)];
    expect(await result.json()).toMatchObject({
      evaluation_result: { app: mark, correction: { pass: false, comment: mark } },
    });
    const dataset = await presage.call("GET", `/v1/datasets/${own.dataset}/samples`);
    expect(await dataset.json()).toMatchObject({ data: [{ trajectory_id: mark }] });
    const prediction = await presage.call("GET", `/v1/predictions/${own.prediction}`);
    expect(await prediction.json()).toMatchObject({ interaction: { state: mark } });
    const revision = await presage.call("GET", `/v1/error-taxonomy-revision/${own.revision}`);
    expect(await revision.json()).toMatchObject({ labels: [mark] });
    const sessions = SessionListResponse.parse(await (await presage.call("GET", "/v1/sessions")).json());
    expect(sessions.data).toMatchObject([{ id: own.session, user_agent: mark }]);
  });

  test("Every route that requires a key was tested", async () => {
    const document = (await (await fetch(`${presage.url}/openapi.json`)).json()) as {
      paths: Record<string, Record<string, { security?: unknown[] }>>;
    };
    const closed = Object.entries(document.paths).flatMap(([path, operations]) =>
      Object.entries(operations)
        .filter(([, { security }]) => security?.length !== 0)
        .map(([method]) => `${method.toUpperCase()} ${path}`),
    );
    const walked = [...byId(), ...lists()].map(([method, path]) => `${method} ${path.split("?")[0]}`);
    const isWalked = (route: string) => {
      const pattern = new RegExp(`^${route.replace(/\{\w+\}/g, "[^/]+")}$`);
      return walked.some((call) => pattern.test(call));
    };
    // These create the caller's own resources and refer to no existing ones; the profile in a request is tested above,
    // and the project of an experiment in the tests of experiments.
    const makers = [
      "POST /v1/predict",
      "POST /v1/chat/completions",
      // The upstream's models belong to no account.
      "GET /v1/models/{id}",
      "POST /v1/api-keys",
      "POST /v1/evaluate",
      "POST /v1/evaluation-results/batch",
      "POST /v1/evaluations/batch",
      // The tests of labels check that its lines cannot name other accounts' results.
      "POST /v1/evaluation-labels",
      "POST /v1/evaluator-profiles",
      "POST /v1/evaluator-criteria",
      "POST /v1/projects",
      "POST /v1/experiments",
      "POST /v1/datasets",
      // The dataset of a run is tested above.
      "POST /v1/runs",
      "PUT /v1/goals/{run_name}",
      "POST /v1/environments",
      "POST /v1/reality-checks",
      "POST /v1/worlds",
      "POST /v1/error-taxonomy-revision",
      // These involve no resource.
      "GET /v1/imports/formats",
      "POST /v1/imports/preview",
      // This one ends the current session.
      "POST /auth/sign-out",
    ];
    expect(closed.filter((route) => !isWalked(route) && !makers.includes(route))).toEqual([]);
  });
});
