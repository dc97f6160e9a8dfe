import { beforeAll, expect, test } from "bun:test";
import { ErrorTaxonomyFindingsResponse, RecentErrorFindingsResponse } from "@presage/contract";
import { usePresage } from "../support/presage/use-presage.ts";
import { datasetClient } from "../support/resources/datasets.ts";
import { errorTaxonomyClient, nowhere, path } from "../support/resources/error-taxonomies.ts";
import { evaluationClient } from "../support/resources/evaluations.ts";
import { evaluatorProfileClient } from "../support/resources/evaluator-profiles.ts";
import { keyOfAnotherAccount } from "../support/resources/other-account.ts";
import { runClient } from "../support/resources/runs.ts";
import { issuesOf, locationsOf } from "../support/resources/validation-issues.ts";
import { markedSamples, worldClient } from "../support/resources/worlds.ts";
import { onAnyDatabase } from "../support/store/databases.ts";
import { openStore } from "../support/store/open-store.ts";
import { type StoredFields, storeResults } from "../support/store/store-results.ts";
import { refuse, say } from "../support/upstream/judge.ts";
import { useUpstream } from "../support/upstream/use-upstream.ts";

const today = () => new Date().toISOString().slice(0, 10);

onAnyDatabase((database) => {
  const upstream = useUpstream();
  const presage = usePresage({ database, PRESAGE_UPSTREAM_URL: upstream.url });
  let stranger: Record<string, string>;
  const { create, list } = errorTaxonomyClient(() => presage);
  const profiles = evaluatorProfileClient(() => presage);
  const { evaluate, post } = evaluationClient(() => presage);

  beforeAll(async () => {
    stranger = { "x-api-key": await keyOfAnotherAccount(presage.databaseUrl) };
  });

  const get = (revisionId: string, query = "", headers?: Record<string, string>) =>
    presage.call("GET", `${path}/${revisionId}/findings${query}`, undefined, headers);

  async function findings(...call: Parameters<typeof get>): Promise<ErrorTaxonomyFindingsResponse> {
    const response = await get(...call);
    expect(response.status).toBe(200);
    return ErrorTaxonomyFindingsResponse.parse(await response.json());
  }

  /** From now on the judge finds the error kinds with these ids. */
  function judgeFinds(...ids: string[]): void {
    const categories = ids.map((id) => ({ id, reason: "Look." }));
    upstream.answer = () => say({ reasoning: "I looked.", categories });
  }

  const orderOf = (profileName: string) => ({
    evaluators: [{ evaluator: "error-taxonomy", profile_name: profileName }],
    evaluated_model_output: "The door is a window.",
  });

  /** The findings of an evaluation on a day. */
  const foundOn = (day: string, revisionId: string, paths: string[][]): StoredFields => ({
    evaluatorFamily: "error-taxonomy",
    createdAt: Date.parse(`${day}T23:59:59Z`) * 1000,
    outcome: {
      status: "success",
      pass: paths.length === 0,
      extra: {
        error_taxonomy_revision_id: revisionId,
        categories: paths.map((path) => ({ path, reason: "" })),
      },
    },
  });

  async function store(fields: StoredFields[]): Promise<void> {
    await using opened = await openStore(presage.databaseUrl);
    await storeResults(opened.database, opened.owner.account_id, fields);
  }

  test("Findings are counted with their evaluations, for each revision separately", async () => {
    const name = "rooms";
    const body = { doors: ["opened by itself", "gone"], people: ["gone"] };
    const first = await create({ error_taxonomy_name: name, body, labels: ["production"] });
    await profiles.create({
      evaluator_family: "error-taxonomy",
      name,
      config: { error_taxonomy_name: name },
    });
    expect(await findings(first.id)).toEqual({ evaluated: 0, findings: [] });

    const order = orderOf(name);
    judgeFinds("E2", "E3");
    await Promise.all([evaluate(order), evaluate(order)]);
    judgeFinds("E2");
    await evaluate({
      ...order,
      evaluators: [...order.evaluators, { evaluator: "exact-match" }],
      evaluated_model_gold_answer: "x",
    });
    judgeFinds();
    await evaluate(order);
    upstream.answer = () => refuse(400, "no");
    expect(await evaluate(order)).toMatchObject([{ status: "failed" }]);
    expect(await findings(first.id.toUpperCase())).toEqual({
      evaluated: 4,
      findings: [
        { path: ["doors", "gone"], count: 3, last_found_on: today() },
        { path: ["people", "gone"], count: 2, last_found_on: today() },
      ],
    });

    const second = await create({ error_taxonomy_name: name, body: ["other"], labels: ["production"] });
    judgeFinds("E1");
    await evaluate(order);
    expect(await findings(second.id)).toMatchObject({
      evaluated: 1,
      findings: [{ path: ["other"], count: 1 }],
    });
    expect((await findings(first.id)).evaluated).toBe(4);
  });

  test("Each account sees its own findings of a built-in taxonomy", async () => {
    const [revision] = await list({ name: "system:world-model-errors" });
    const id = revision?.id ?? "";
    judgeFinds("E1");
    await evaluate(orderOf("system:world-model-errors"));
    expect(await findings(id)).toMatchObject({ evaluated: 1, findings: [{ count: 1 }] });
    expect(await findings(id, "", stranger)).toEqual({ evaluated: 0, findings: [] });
    judgeFinds();
    expect((await post(orderOf("system:world-model-errors"), stranger)).status).toBe(200);
    expect(await findings(id, "", stranger)).toEqual({ evaluated: 1, findings: [] });
  });

  test("Whole UTC days are counted between the bounds", async () => {
    const { id } = await create({ error_taxonomy_name: "days", body: ["a", "b"] });
    await store([
      foundOn("2026-03-01", id, [["a"]]),
      foundOn("2026-03-02", id, [["a"], ["b"]]),
      foundOn("2026-03-03", id, []),
      foundOn("2026-03-04", id, [["b"]]),
    ]);
    const a = (count: number, last_found_on: string) => ({ path: ["a"], count, last_found_on });
    const b = (count: number, last_found_on: string) => ({ path: ["b"], count, last_found_on });
    expect(await findings(id)).toEqual({ evaluated: 4, findings: [a(2, "2026-03-02"), b(2, "2026-03-04")] });
    expect(await findings(id, "?since=2026-03-02T18:00:00Z")).toEqual({
      evaluated: 3,
      findings: [b(2, "2026-03-04"), a(1, "2026-03-02")],
    });
    expect(await findings(id, "?until=2026-03-02T00:00:00Z")).toEqual({
      evaluated: 1,
      findings: [a(1, "2026-03-01")],
    });
    const oneDay = "?since=2026-03-02T00:00:00&until=2026-03-02T00:00:01";
    expect((await findings(id, oneDay)).evaluated).toBe(1);
    expect(await findings(id, "?since=2999-01-01T00:00:00Z")).toEqual({ evaluated: 0, findings: [] });
  });

  test("Names of any length and many kinds at once are counted", async () => {
    const { id } = await create({ error_taxonomy_name: "long", body: ["a"] });
    const deep = Array.from({ length: 20 }, (_, level) => `${level}${"🚪".repeat(99)}`);
    // Uses several revisions, so that there are more counts than fit into one statement.
    const many = Array.from({ length: 500 }, (_, index) => [`kind ${index}`]);
    const others = [1, 2].map(() => foundOn("2026-04-01", crypto.randomUUID(), many));
    await store([foundOn("2026-04-01", id, [deep, ...many]), foundOn("2026-04-01", id, [deep]), ...others]);
    const { evaluated, findings: found } = await findings(id);
    expect([evaluated, found.length]).toEqual([2, 501]);
    expect(found[0]).toEqual({ path: deep, count: 2, last_found_on: "2026-04-01" });
  });

  test("An unknown revision is 404, and issues are reported", async () => {
    expect((await get(nowhere)).status).toBe(404);
    const own = await create({ error_taxonomy_name: "mine alone" });
    expect((await get(own.id, "", stranger)).status).toBe(404);
    const issues = await issuesOf(await get(own.id, "?since=yesterday&until="));
    expect(locationsOf(issues)).toEqual([
      { type: "datetime_from_date_parsing", loc: ["query", "since"] },
      { type: "datetime_from_date_parsing", loc: ["query", "until"] },
    ]);
    const idFaults = await issuesOf(await get("rooms"));
    expect(locationsOf(idFaults)).toEqual([{ type: "uuid_parsing", loc: ["path", "revision_id"] }]);
  });

  test("Recent findings are by model and by run, with the newest examples of each error", async () => {
    const { id } = await create({ error_taxonomy_name: "recent", body: { doors: ["gone", "open"] } });
    const other = await create({ error_taxonomy_name: "not recent", body: ["gone"] });
    const by = (model: string, fields: StoredFields): StoredFields => ({
      ...fields,
      metadata: {
        app: "recent",
        evaluatedModel: { name: model },
        ...(model === "large" && { runId: "of-the-large" }),
      },
    });
    const day = today();
    await store([
      ...Array.from({ length: 4 }, () => by("small", foundOn(day, id, [["doors", "gone"]]))),
      by(
        "large",
        foundOn(day, id, [
          ["doors", "open"],
          ["doors", "open"],
        ]),
      ),
      by("large", foundOn(day, id, [])),
      by("large", foundOn(day, other.id, [["gone"]])),
    ]);
    const response = await presage.call("GET", `${path}/${id}/recent-findings`);
    expect(response.status).toBe(200);
    const found = RecentErrorFindingsResponse.parse(await response.json());
    expect(found.evaluated).toBe(6);
    expect(found.models).toEqual([
      { model: "small", baseline: null, evaluated: 4, findings: [{ path: ["doors", "gone"], count: 4 }] },
      { model: "large", baseline: null, evaluated: 2, findings: [{ path: ["doors", "open"], count: 1 }] },
    ]);
    expect(found.runs).toEqual([
      {
        evaluation_run_id: "of-the-large",
        name: null,
        evaluated: 2,
        findings: [{ path: ["doors", "open"], count: 1 }],
      },
      {
        evaluation_run_id: null,
        name: null,
        evaluated: 4,
        findings: [{ path: ["doors", "gone"], count: 4 }],
      },
    ]);
    const examples = new Map(found.examples.map(({ path, results }) => [path.join("/"), results]));
    expect(examples.get("doors/gone")).toHaveLength(3);
    expect(examples.get("doors/open")).toMatchObject([{ model: "large", reason: "" }]);
    const ids = examples.get("doors/gone")?.map((result) => Number(result.id)) ?? [];
    expect(ids).toEqual(ids.toSorted((a, b) => b - a));
    const elsewhere = await presage.call("GET", `${path}/${id}/recent-findings`, undefined, stranger);
    expect(elsewhere.status).toBe(404);
  });

  test("What a baseline wrote is apart from models, and without a name of a model a world has its own", async () => {
    const { id } = await create({ error_taxonomy_name: "of baselines", body: ["gone"] });
    const datasets = datasetClient(presage);
    const dataset_id = await datasets.create();
    await datasets.uploadNew(dataset_id, markedSamples);
    const config = { examples: { dataset: dataset_id }, model: { kind: "retrieval" } };
    await worldClient(presage).create("rooms", config);
    const runIds: string[] = [];
    for (const target of [{ baseline: "no-change" }, { baseline: "retrieval" }, { world: "rooms" }])
      runIds.push((await runClient(presage).create({ dataset_id, target })).id);
    const found = foundOn(today(), id, [["gone"]]);
    const [unchanged, ...others] = runIds.map((runId) => ({ ...found, metadata: { app: "runs", runId } }));
    await store([unchanged, unchanged, ...others, found].filter((one) => one !== undefined));
    const response = await presage.call("GET", `${path}/${id}/recent-findings`);
    const { models } = RecentErrorFindingsResponse.parse(await response.json());
    expect(models.map(({ findings: _, ...of }) => of)).toEqual([
      { model: "rooms@1", baseline: null, evaluated: 1 },
      { model: null, baseline: null, evaluated: 1 },
      { model: null, baseline: "no-change", evaluated: 2 },
      { model: null, baseline: "retrieval", evaluated: 1 },
    ]);
  });
});
