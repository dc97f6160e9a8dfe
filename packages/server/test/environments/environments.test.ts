import { expect, test } from "bun:test";
import {
  Environment,
  EnvironmentListResponse,
  EpisodeListResponse,
  TaskListResponse,
} from "@presage/contract";
import { orsClient } from "../support/environments/ors-client.ts";
import { testKey } from "../support/presage/presage.ts";
import { usePresage } from "../support/presage/use-presage.ts";
import { datasetClient } from "../support/resources/datasets.ts";
import { onAnyDatabase } from "../support/store/databases.ts";

onAnyDatabase((database) => {
  const presage = usePresage({ database });
  const datasets = datasetClient(presage);
  const post = (path: string, body?: unknown, headers?: Record<string, string>) =>
    presage.call("POST", path, body, headers);
  const lines = (...tasks: object[]) => tasks.map((task) => JSON.stringify(task)).join("\n");

  async function issuesOf(response: Response): Promise<unknown> {
    expect(response.status).toBe(422);
    const { detail } = (await response.json()) as { detail: { loc: unknown; msg: string }[] };
    return detail.map(({ loc, msg }) => [loc, msg]);
  }

  test("an environment is created, revised and listed beside the built-in one", async () => {
    const created = await post("/v1/environments", {
      name: "kitchen",
      description: "A kitchen",
      max_steps: 5,
      stop: [{ output_contains: "burnt", outcome: "failure" }],
    });
    expect(created.status).toBe(201);
    expect(Environment.parse(await created.json())).toMatchObject({
      name: "kitchen",
      revision: 1,
      tasks: {},
    });
    const revised = await presage.call("PATCH", "/v1/environments/kitchen", {
      max_steps: 7,
      description: null,
    });
    expect(Environment.parse(await revised.json())).toMatchObject({
      revision: 2,
      config: { max_steps: 7, stop: [{ output_contains: "burnt", outcome: "failure" }] },
    });
    const { data } = EnvironmentListResponse.parse(
      await (await presage.call("GET", "/v1/environments")).json(),
    );
    expect(data.map(({ name, revision, is_built_in }) => [name, revision, is_built_in])).toEqual([
      ["kitchen", 2, false],
      ["sandbox", 1, true],
    ]);
    expect(data[0]?.config).not.toHaveProperty("description");
  });

  test("the built-in environment has a place on a page, or is the last page", async () => {
    const list = async (query: string) =>
      EnvironmentListResponse.parse(await (await presage.call("GET", `/v1/environments?${query}`)).json());
    const own = (await list("")).data.length - 1;
    const { data, next } = await list(`limit=${own}`);
    expect(data.map(({ is_built_in }) => is_built_in)).toEqual(Array(own).fill(false));
    expect(await list(`limit=${own}&after=${next}`)).toMatchObject({
      data: [{ name: "sandbox" }],
      next: null,
    });
  });

  test("long numbers of params and of tasks keep their digits", async () => {
    const exact = '{"seed":12345678901234567890,"extra":{"a":1e400}}';
    const created = await post("/v1/environments", `{"name":"exact","params":${exact}}`);
    expect(await created.text()).toContain(exact);
    await post("/v1/environments/exact/tasks", `{"initial_state":"a","metadata":${exact}}`);
    const key = { "x-api-key": testKey, "idempotency-key": "exact" };
    const start = () => post("/v1/episodes", { environment: "exact" }, key);
    for (const response of [
      ...[await presage.call("GET", "/v1/environments/exact"), await start(), await start()],
      await presage.call("GET", "/v1/environments/exact/tasks"),
    ])
      expect(await response.text()).toContain(exact);
  });

  test("a repeated request creates no environment anew, nor finds another one of its name", async () => {
    const key = { "x-api-key": testKey, "idempotency-key": "environment-1" };
    const create = () => post("/v1/environments", { name: "once", max_steps: 3 }, key);
    const first = await (await create()).json();
    expect(await (await create()).json()).toEqual(first);
    await presage.call("DELETE", "/v1/environments/once");
    await post("/v1/environments", { name: "once", max_steps: 4 });
    expect((await create()).status).toBe(404);
  });

  test("a name is taken once, and the built-in environment stays as it is", async () => {
    expect((await post("/v1/environments", { name: "taken" })).status).toBe(201);
    expect((await post("/v1/environments", { name: "taken" })).status).toBe(409);
    expect((await post("/v1/environments", { name: "sandbox" })).status).toBe(409);
    expect((await presage.call("PATCH", "/v1/environments/sandbox", { max_steps: 1 })).status).toBe(409);
    expect((await presage.call("DELETE", "/v1/environments/sandbox")).status).toBe(409);
    expect((await post("/v1/environments/sandbox/tasks", { initial_state: "x" })).status).toBe(409);
  });

  test("what an environment names must be there, and its patterns must be valid", async () => {
    const refused = async (config: object) =>
      await issuesOf(await post("/v1/environments", { name: "refused", ...config }));
    expect(await refused({ deployment: "nowhere" })).toEqual([
      [["body", "deployment"], "Value error, There is no deployment of this name"],
    ]);
    const config = {
      params: { stream: true },
      stop: [{ output_matches: "(", outcome: "failure" }],
      reward: { evaluator: "no-such", when: "last" },
      world: "nowhere",
    };
    expect(await refused(config)).toEqual([
      [["body", "params", "stream"], "Value error, Streaming is not supported"],
      [["body", "stop", 0, "output_matches"], expect.any(String)],
      [["body", "reward", "evaluator"], expect.any(String)],
      [["body", "params"], "Value error, A world has its own; name one of the two"],
      [["body", "world"], "Value error, There is no world named nowhere"],
    ]);
    const idle = { deployment: "nowhere", real: { name: "lab", false_success_limit: 0.1 } };
    const ofIdle = [
      [["body", "real", "name"], expect.stringContaining("declares no real environment")],
      [["body", "deployment"], expect.any(String)],
      [["body", "real", "false_success_limit"], expect.stringContaining("Nothing says what success is")],
    ];
    expect(await refused(idle)).toEqual(ofIdle);
    await post("/v1/environments", { name: "revised" });
    expect(await issuesOf(await presage.call("PATCH", "/v1/environments/revised", idle))).toEqual(ofIdle);
    expect((await post("/v1/environments", { name: "Upper" })).status).toBe(422);
    expect((await post("/v1/environments", { name: "-x" })).status).toBe(422);
  });

  test("tasks are numbered in their split, all of an upload or none", async () => {
    await post("/v1/environments", { name: "with-tasks" });
    const wrong = lines({ initial_state: "a" }, { initial_state: 5 });
    expect(await issuesOf(await post("/v1/environments/with-tasks/tasks", wrong))).toEqual([
      [["body", "line", 2, "initial_state"], "Input should be a valid string"],
    ]);
    expect(await issuesOf(await post("/v1/environments/with-tasks/tasks", "{"))).toMatchObject([
      [["body", "line", 1], expect.stringContaining("Not JSON")],
    ]);
    const deep = `{"initial_state":"a","metadata":{"x":${"[".repeat(300_000)}${"]".repeat(300_000)}}}`;
    expect(await issuesOf(await post("/v1/environments/with-tasks/tasks", deep))).toMatchObject([
      [["body", "line", 1], expect.stringContaining("nested deeper than 256 levels")],
    ]);
    const spread = Array.from({ length: 60_000 }, () => '{"initial_state":"a"}').join("\n\n");
    expect(await issuesOf(await post("/v1/environments/with-tasks/tasks", spread))).toMatchObject([
      [["body"], expect.stringContaining("at most 100000 lines")],
    ]);
    const first = lines({ initial_state: "a", goal: "g" }, { initial_state: "b", split: "test" });
    const key = { "x-api-key": testKey, "idempotency-key": "tasks-1" };
    for (const _ of [1, 2]) {
      const added = await post("/v1/environments/with-tasks/tasks", first, key);
      expect(await added.json()).toEqual({ added: { train: 1, test: 1 }, tasks: { train: 1, test: 1 } });
    }
    const more = await post(
      "/v1/environments/with-tasks/tasks",
      lines({ initial_state: "c" }, { initial_state: "d" }),
    );
    expect(await more.json()).toEqual({ added: { train: 2 }, tasks: { train: 3, test: 1 } });
    const page = async (query: string) =>
      TaskListResponse.parse(
        await (await presage.call("GET", `/v1/environments/with-tasks/tasks${query}`)).json(),
      );
    const { data, next } = await page("?limit=2");
    expect(data.map(({ index, initial_state }) => [index, initial_state])).toEqual([
      [0, "a"],
      [1, "c"],
    ]);
    expect((await page(`?limit=2&after=${next}`)).data.map(({ initial_state }) => initial_state)).toEqual([
      "d",
    ]);
  });

  test("the first states of a dataset's trajectories become tasks", async () => {
    await post("/v1/environments", { name: "recorded" });
    const id = await datasets.create();
    await datasets.uploadNew(id, [
      { trajectory_id: "t1", step: 1, interaction: { state: "later", action: "go" }, next_state: "end" },
      { trajectory_id: "t1", step: 0, interaction: { state: "first", action: "go" }, next_state: "later" },
      { trajectory_id: "t2", step: 0, interaction: { state: "other", action: "go" }, next_state: "end" },
    ]);
    const added = await post("/v1/environments/recorded/tasks", { dataset_id: id, split: "validation" });
    expect(await added.json()).toMatchObject({ added: { validation: 2 } });
    const listed = await presage.call("GET", "/v1/environments/recorded/tasks?split=validation");
    const { data } = TaskListResponse.parse(await listed.json());
    expect(data.map(({ initial_state, metadata }) => [initial_state, metadata?.trajectory_id])).toEqual([
      ["first", "t1"],
      ["other", "t2"],
    ]);
    const key = { "x-api-key": "bootstrap-key-of-the-tests-0123456789", "idempotency-key": "from-a-dataset" };
    const again = () => post("/v1/environments/recorded/tasks", { dataset_id: id }, key);
    const first = await (await again()).json();
    const next = {
      trajectory_id: "t3",
      step: 0,
      interaction: { state: "s", action: "go" },
      next_state: "end",
    };
    await datasets.uploadNew(id, [next]);
    expect(await (await again()).json()).toEqual(first);
    const conversations = await datasets.create();
    const messages = [{ role: "user", content: "Action: go" }];
    await datasets.uploadNew(conversations, [{ trajectory_id: "t", step: 0, messages, next_state: "end" }]);
    expect(
      await issuesOf(await post("/v1/environments/recorded/tasks", { dataset_id: conversations })),
    ).toEqual([
      [["body", "dataset_id"], "Value error, No trajectory begins with a state: a conversation has none"],
    ]);
    const missing = await post("/v1/environments/recorded/tasks", { dataset_id: "none" });
    expect(missing.status).toBe(404);
  });

  test("an environment with episodes is deleted only together with them", async () => {
    await post("/v1/environments", { name: "short-lived" });
    await post("/v1/environments/short-lived/tasks", { initial_state: "a" });
    const started = await post("/v1/episodes", { environment: "short-lived" });
    const { episode_id: id } = (await started.json()) as { episode_id: string };
    expect((await presage.call("DELETE", "/v1/environments/short-lived")).status).toBe(409);
    expect((await presage.call("GET", `/v1/episodes/${id}`)).status).toBe(200);
    const deleted = await presage.call("DELETE", "/v1/environments/short-lived?with_episodes=true");
    expect(deleted.status).toBe(204);
    expect((await presage.call("GET", `/v1/episodes/${id}`)).status).toBe(404);
    expect((await presage.call("GET", "/v1/environments/short-lived")).status).toBe(404);
    expect((await post("/v1/environments", { name: "short-lived" })).status).toBe(201);
  });

  test("no episode begins in an environment that is being deleted", async () => {
    const { newSession, send } = orsClient(presage);
    for (let round = 0; round < 10; round += 1) {
      await post("/v1/environments", { name: "vanishing" });
      await post("/v1/environments/vanishing/tasks", { initial_state: "a" });
      const place = { env_name: "vanishing", split: "train", index: 0 };
      const session = async () => await send("POST", "/create", place, await newSession());
      const starts = Array.from({ length: 20 }, async (_, index) =>
        index % 2 === 0 ? await post("/v1/episodes", { environment: "vanishing" }) : await session(),
      );
      const deletion = presage.call("DELETE", "/v1/environments/vanishing?with_episodes=true");
      expect((await deletion).status).toBe(204);
      for (const { status } of await Promise.all(starts)) expect([200, 201, 400, 404]).toContain(status);
      const listed = await presage.call("GET", "/v1/episodes?limit=1000");
      for (const { id, environment } of EpisodeListResponse.parse(await listed.json()).data)
        expect([environment, (await presage.call("GET", `/v1/episodes/${id}`)).status]).toEqual([
          environment,
          200,
        ]);
    }
  });
});
