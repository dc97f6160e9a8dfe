import { expect, test } from "bun:test";
import { join } from "node:path";
import type { AuditAction, AuditEvent, AuditEventListResponse } from "@presage/contract";
import { eventually } from "../support/eventually.ts";
import { askEveryRoute } from "../support/presage/ask-every-route.ts";
import { callWithKey } from "../support/presage/presage.ts";
import { usePresage } from "../support/presage/use-presage.ts";
import { makeUser, signInAddressOf } from "../support/sign-in/make-user.ts";
import { sessionOf, signInLocally } from "../support/sign-in/session.ts";
import { onAnyDatabase } from "../support/store/databases.ts";
import { openStore } from "../support/store/open-store.ts";
import { useUpstream } from "../support/upstream/use-upstream.ts";

/** Routes that change nothing, or whose changes are themselves records. */
const unrecorded: Record<string, string> = {
  "POST /v1/predict": "a prediction is its own record",
  "POST /v1/chat/completions": "a prediction is its own record",
  "POST /v1/evaluate": "results are their own records; the project that it creates is recorded",
  "POST /v1/evaluation-results/batch":
    "results are their own records; the project that it creates is recorded",
  "POST /v1/evaluations/batch": "results are their own records; the project that it creates is recorded",
  "POST /v1/evaluation-results/search": "reads",
  "POST /v1/evaluation-results/summary": "reads",
  "POST /v1/evaluation-results/review": "reads",
  "POST /v1/imports/preview": "stores nothing",
  "POST /v1/episodes": "an episode is its own record",
  "POST /v1/episodes/:id/step": "steps are their own records",
  "POST /v1/reality-checks/:id/run":
    "its dataset and its run have theirs, which the test of real steps finds",
  "POST /v1/worlds/:name/preview": "stores nothing",
  "POST /v1/worlds/:name/calibrations": "is recorded as world.revise, which the test of confidences makes",
  "POST /v1/environments/:name/openenv/mcp": "answers that there is nothing",
  "POST /create_session": "stores nothing",
  "POST /delete_session": "stores nothing",
  "POST /create": "an episode is its own record",
  "POST /delete": "ends an episode, which stays",
  "POST /ping": "keeps a session open",
};
for (const name of ["tasks", "num_tasks", "task", "task_range"])
  for (const path of ["", "/:env", "/v1/environments/:name/openenv/:env_name"])
    unrecorded[`POST ${path}/${name}`] = "reads";
for (const path of ["", "/:env"]) unrecorded[`POST ${path}/call`] = "steps are their own records";

/** Routes that differ from another only in the name in their path. */
const others: Record<string, string> = {
  "POST /v1/evaluator-criteria": "POST /v1/evaluator-profiles",
  "POST /v1/evaluator-criteria/:public_id/revision": "POST /v1/evaluator-profiles/:public_id/revision",
  "PATCH /v1/evaluator-criteria/:public_id/archive": "PATCH /v1/evaluator-profiles/:public_id/archive",
};

const secret = "text-of-the-user-5190";

onAnyDatabase((database) => {
  const upstream = useUpstream();
  const presage = usePresage({
    database,
    PRESAGE_UPSTREAM_URL: upstream.url,
    PRESAGE_CAPTURE: "all",
    PRESAGE_PRICES: join(import.meta.dir, "../support/upstream/prices.yaml"),
  });
  const recorded = new Set<string>();

  async function listEvents(query = ""): Promise<AuditEvent[]> {
    const response = await presage.call("GET", `/v1/audit-events?limit=1000${query}`);
    expect(response.status).toBe(200);
    return ((await response.json()) as AuditEventListResponse).data;
  }

  /** Makes a call that must succeed and be recorded as exactly one event. */
  async function change(
    route: string,
    action: AuditAction,
    ids: Record<string, string> = {},
    body?: unknown,
    headers?: Record<string, string>,
  ) {
    const [method = "", pattern = ""] = route.split(" ");
    const path = pattern.replaceAll(/:(\w+)/g, (_, name: string) => ids[name] ?? "");
    const known = new Set((await listEvents()).map(({ id }) => id));
    const response = headers
      ? await callWithKey(presage.url, method, path, body, headers)
      : await presage.call(method, path, body);
    expect(`${route} ${response.status}`).toMatch(/ 20\d$/);
    const added = (await listEvents()).filter(({ id }) => !known.has(id));
    expect(added.map((event) => event.action)).toEqual([action]);
    expect(added[0]?.request_id).toBe(response.headers.get("x-request-id"));
    expect(JSON.stringify(added)).not.toContain(secret);
    recorded.add(pattern.includes("?") ? route.slice(0, route.indexOf("?")) : route);
    const text = await response.text();
    // biome-ignore lint/suspicious/noExplicitAny: each of the answers has a shape of its own
    return (text === "" ? undefined : JSON.parse(text)) as any;
  }

  test("Every change through the API leaves one event, and none has texts or secrets", async () => {
    await using store = await openStore(presage.databaseUrl);
    const key = await change("POST /v1/api-keys", "api_key.create", {}, { name: "a", scopes: ["read"] });
    const { key_id } = { key_id: key.id };
    await change("PATCH /v1/api-keys/:key_id", "api_key.update", { key_id }, { rate_limit_rpm: 5 });
    const budget = { api_key_id: key_id, limit: 20, stops: true };
    await change("PATCH /v1/budgets", "budget.set", {}, budget);
    await change("PATCH /v1/budgets", "budget.remove", {}, { ...budget, limit: null });
    await change("DELETE /v1/api-keys/:key_id", "api_key.revoke", { key_id });

    const user_id = await makeUser(store, "member");
    await change("PATCH /v1/members/:user_id", "user.change_role", { user_id }, { role: "viewer" });
    const [ofMember, ofKey] = await listEvents();
    const owner = { [store.owner.id]: store.owner.name ?? "" };
    expect(ofMember?.names).toEqual({ ...owner, [user_id]: "member" });
    expect(ofKey?.names).toEqual({ ...owner, [key_id]: "a" });

    const signIn = async () => {
      const signInAddress = await signInAddressOf(store, presage.url, store.owner.id);
      const browser = await signInLocally({ url: presage.url, signInAddress });
      return await sessionOf(browser, presage.databaseUrl);
    };
    const token = new URL(await signInAddressOf(store, presage.url, store.owner.id)).hash.slice(1);
    await change("POST /auth/local", "session.start", {}, { token });
    const { data } = (await (await presage.call("GET", "/v1/sessions")).json()) as { data: { id: string }[] };
    await change("DELETE /v1/sessions/:session_id", "session.end", { session_id: data[0]?.id ?? "" });
    await change("POST /auth/sign-out", "session.end", {}, undefined, (await signIn()).headers);

    const { evaluator_profile: profile } = await change(
      "POST /v1/evaluator-profiles",
      "evaluator_profile.create",
      {},
      { evaluator_family: "contains", name: "p", config: { substrings: [secret] }, description: secret },
    );
    const { public_id } = profile;
    const config = { substrings: [secret, "b"] };
    const ofProfile = "/v1/evaluator-profiles/:public_id";
    await change(`POST ${ofProfile}/revision`, "evaluator_profile.revise", { public_id }, { config });
    await change(`PATCH ${ofProfile}/archive`, "evaluator_profile.archive", { public_id });

    const { error_taxonomy_revision: taxonomy } = await change(
      "POST /v1/error-taxonomy-revision",
      "error_taxonomy.add_revision",
      {},
      { error_taxonomy_name: "t", body: { categories: [secret] } },
    );
    const revision_id = taxonomy.id;
    const ofTaxonomy = "/v1/error-taxonomy-revision/:revision_id";
    const labels = ["production"];
    await change(`POST ${ofTaxonomy}/set-labels`, "error_taxonomy.set_labels", { revision_id }, { labels });
    await change(
      `POST ${ofTaxonomy}/remove-labels`,
      "error_taxonomy.remove_labels",
      { revision_id },
      { labels },
    );
    const events = await listEvents();
    const removeAgain = `/v1/error-taxonomy-revision/${revision_id}/remove-labels`;
    expect((await presage.call("POST", removeAgain, { labels })).status).toBe(200);
    expect(await listEvents()).toEqual(events);

    const project = await change("POST /v1/projects", "project.create", {}, { name: "pr" });
    const newExperiment = { project_id: project.id, name: "e", metadata: { text: secret } };
    const { experiment } = await change("POST /v1/experiments", "experiment.create", {}, newExperiment);
    await change("POST /v1/experiments/:id", "experiment.update", { id: experiment.id }, { metadata: {} });

    const evaluate = { evaluators: [{ evaluator: "exact-match" }], evaluated_model_output: secret };
    const gold = { ...evaluate, evaluated_model_gold_answer: secret, project_name: "by evaluate" };
    const { results } = await change("POST /v1/evaluate", "project.create", {}, gold);
    const id = results[0].evaluation_result.id;
    const correction = { pass: false, comment: secret };
    const ofResult = "/v1/evaluation-results/:id/correction";
    await change(`POST ${ofResult}`, "evaluation_result.correct", { id }, correction);
    await change(`DELETE ${ofResult}`, "evaluation_result.withdraw_correction", { id });
    const label = { label: "pass", annotator: secret };
    await change("POST /v1/evaluation-results/:id/labels", "evaluation_result.label", { id }, label);
    await change("POST /v1/evaluation-labels", "evaluation_result.label", {}, { result_id: id, ...label });
    await change("DELETE /v1/evaluation-results/:id", "evaluation_result.delete", { id });
    await change("DELETE /v1/evaluation-results?app=none&expected_count=0", "evaluation_result.delete");

    const dataset = await change(
      "POST /v1/datasets",
      "dataset.create",
      {},
      { name: "d", description: secret },
    );
    const interaction = { state: secret, action: "x" };
    const sample = { trajectory_id: "t", step: 0, interaction, next_state: secret };
    await change("POST /v1/datasets/:id/revisions", "dataset.add_revision", { id: dataset.id }, sample);
    const newRun = {
      dataset_id: dataset.id,
      target: { predictions: "imported" },
      evaluators: [{ evaluator: "exact-match" }],
    };
    const run = await change("POST /v1/runs", "run.create", {}, newRun);
    const ofRun = { id: run.id };
    await change("POST /v1/runs/:id/pause", "run.pause", ofRun);
    await change("POST /v1/runs/:id/resume", "run.resume", ofRun);
    const more = { evaluators: [{ evaluator: "edit-distance" }] };
    await change("POST /v1/runs/:id/evaluators", "run.add_evaluators", ofRun, more);
    const prediction = { index: 0, prediction: secret };
    await change("POST /v1/runs/:id/predictions", "run.add_predictions", ofRun, prediction);
    const other = await change("POST /v1/runs", "run.create", {}, newRun);
    await change("POST /v1/runs/:id/pause", "run.pause", { id: other.id });
    await change("POST /v1/runs/:id/finish", "run.finish", { id: other.id });
    const third = await change("POST /v1/runs", "run.create", {}, newRun);
    await change("POST /v1/runs/:id/cancel", "run.cancel", { id: third.id });
    const shared = await change("POST /v1/shares", "share.create", {}, { kind: "run", ids: [third.id] });
    const [made] = await listEvents("&action=share.create");
    expect(made?.names).toMatchObject({ [third.id]: third.name });
    await change("DELETE /v1/shares/:id", "share.revoke", { id: shared.id });
    const drawn = { size: 5 };
    await change("POST /v1/runs/:id/label-sample", "evaluation_result.draw", { id: third.id }, drawn);
    await change("DELETE /v1/runs/:id", "run.delete", { id: other.id });
    await change("DELETE /v1/datasets/:id?with_runs=true", "dataset.delete", { id: dataset.id });

    const pairs = [{ task_id: secret, simulated: true, real: false }];
    const check = await change("POST /v1/reality-checks", "reality_check.create", {}, { name: "lab", pairs });
    const ofCheck = { id: check.id };
    await store.database.updateTable("reality_checks").set({ status: "paused" }).execute();
    await change("POST /v1/reality-checks/:id/resume", "reality_check.resume", ofCheck);
    await store.database.updateTable("reality_checks").set({ status: "paused" }).execute();
    await change("POST /v1/reality-checks/:id/cancel", "reality_check.cancel", ofCheck);
    await change("DELETE /v1/reality-checks/:id", "reality_check.delete", { id: check.id });
    const ofGoal = { run_name: "nightly" };
    const goal = { evaluator: "exact-match", pass_rate: 0.8 };
    await change("PUT /v1/goals/:run_name", "goal.set", ofGoal, goal);
    await change("DELETE /v1/goals/:run_name", "goal.remove", ofGoal);

    await change("POST /v1/worlds", "world.create", {}, { name: "shop", instructions: secret });
    await change("PATCH /v1/worlds/:name", "world.revise", { name: "shop" }, { instructions: secret });
    await change("DELETE /v1/worlds/:name", "world.delete", { name: "shop" });

    const newEnvironment = { name: "world", description: secret };
    await change("POST /v1/environments", "environment.create", {}, newEnvironment);
    const name = "world";
    await change("PATCH /v1/environments/:name", "environment.revise", { name }, { description: secret });
    const task = { initial_state: secret };
    await change("POST /v1/environments/:name/tasks", "environment.add_tasks", { name }, task);
    const episode = (await (await presage.call("POST", "/v1/episodes", { environment: name })).json()) as {
      episode_id: string;
    };
    await change("DELETE /v1/episodes/:id", "episode.delete", { id: episode.episode_id });
    await change("DELETE /v1/environments/:name", "environment.delete", { name });
    await presage.call("POST", "/v1/environments", { name });
    await presage.call("POST", `/v1/environments/${name}/tasks`, task);
    await presage.call("POST", "/v1/episodes", { environment: name });
    const withEpisodes = await presage.call("DELETE", `/v1/environments/${name}?with_episodes=true`);
    expect(withEpisodes.status).toBe(204);
    expect((await listEvents("&action=episode.delete"))[0]?.detail).toEqual({
      environment: name,
      deleted: 1,
    });

    const predict = { interaction: { state: secret, action: "x" } };
    for (let index = 0; index < 2; index += 1) await presage.call("POST", "/v1/predict", predict);
    const kept = await eventually(
      async () => {
        const response = await presage.call("GET", "/v1/predictions?source=live");
        return ((await response.json()) as { data: { id: string }[] }).data;
      },
      (found) => found.length === 2,
    );
    await change("DELETE /v1/predictions/:id", "prediction.delete", { id: kept[0]?.id ?? "" });
    await change("DELETE /v1/predictions?source=live&before=2100-01-01", "prediction.delete");
    expect((await listEvents("&object_id=many"))[0]?.detail).toMatchObject({ deleted: 1 });
  });

  test("No route that changes something was forgotten", async () => {
    const changing = [...(await askEveryRoute(presage)).keys()].filter((route) => !route.startsWith("GET "));
    const isKnown = (route: string) =>
      recorded.has(others[route] ?? route) || Object.hasOwn(unrecorded, route);
    expect(changing.filter((route) => !isKnown(route))).toEqual([]);
    expect(Object.keys(unrecorded).filter((route) => !changing.includes(route))).toEqual([]);
  });

  test("A change that fails leaves no event, and what changes nothing neither", async () => {
    const before = await listEvents();
    const unknown = crypto.randomUUID();
    expect((await presage.call("DELETE", `/v1/api-keys/${unknown}`)).status).toBe(404);
    expect((await presage.call("DELETE", `/v1/runs/${unknown}`)).status).toBe(404);
    expect((await presage.call("POST", "/v1/projects", { name: "pr" })).status).toBe(200);
    const repeated = before.find(({ action }) => action === "api_key.revoke");
    expect((await presage.call("DELETE", `/v1/api-keys/${repeated?.object_id}`)).status).toBe(204);
    expect((await listEvents()).length).toBe(before.length);
  });

  test("The list is filtered by action, actor, object and time, and read page by page", async () => {
    // A deleted run keeps its name until it is swept.
    await eventually(
      () => listEvents("&action=run.delete"),
      (deletions) => deletions.every(({ object_id, names }) => names[object_id] === null),
    );
    const all = await listEvents();
    const [first] = all;
    if (first === undefined) throw new Error("There are no events");
    const ofObject = await listEvents(`&object_id=${first.object_id}`);
    expect(ofObject).toEqual(all.filter(({ object_id }) => object_id === first.object_id));
    const created = all.filter(({ action }) => action === "run.create");
    expect(await listEvents("&action=run.create")).toEqual(created);
    expect(created).toHaveLength(3);
    const ofUser = all.filter(({ actor }) => actor.user_id === first.actor.user_id);
    expect(await listEvents(`&actor_user_id=${first.actor.user_id}`)).toEqual(ofUser);
    const from = encodeURIComponent(created[0]?.created_at ?? "");
    expect((await listEvents(`&from=${from}`)).at(-1)?.id).toBe(created[0]?.id ?? "");
    expect((await listEvents(`&to=${from}`)).some(({ id }) => id === created[0]?.id)).toBe(false);
    const pages: AuditEvent[] = [];
    for (let after = ""; ; ) {
      const response = await presage.call("GET", `/v1/audit-events?limit=7${after}`);
      const { data, next } = (await response.json()) as AuditEventListResponse;
      pages.push(...data);
      if (next === null) break;
      after = `&after=${next}`;
    }
    expect(pages).toEqual(all);
    const nul = await presage.call("GET", "/v1/audit-events?object_id=%00");
    expect(nul.status).toBe(422);
  });

  test("An event of a person has their address", async () => {
    await using store = await openStore(presage.databaseUrl);
    const userId = await makeUser(store, "owner", "ada@example.org");
    const signInAddress = await signInAddressOf(store, presage.url, userId);
    await signInLocally({ url: presage.url, signInAddress });
    const started = async () => (await listEvents(`&actor_user_id=${userId}`))[0]?.actor;
    expect(await started()).toMatchObject({ kind: "sign_in", email: "ada@example.org" });
  });
});
