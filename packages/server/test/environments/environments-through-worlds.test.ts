import { expect, test } from "bun:test";
import { episodeClient } from "../support/environments/episode-client.ts";
import { usePresage } from "../support/presage/use-presage.ts";
import { datasetClient } from "../support/resources/datasets.ts";
import { markedSamples, readMarks, worldClient } from "../support/resources/worlds.ts";
import { onAnyDatabase } from "../support/store/databases.ts";
import { completion, type ReceivedRequest } from "../support/upstream/upstream.ts";
import { useUpstream } from "../support/upstream/use-upstream.ts";

onAnyDatabase((database) => {
  const upstream = useUpstream();
  const presage = usePresage({
    database,
    get PRESAGE_UPSTREAM_URL() {
      return upstream.url;
    },
  });
  const datasets = datasetClient(presage);
  const worlds = worldClient(presage);
  const episodes = episodeClient(presage);

  async function newDataset(): Promise<string> {
    const id = await datasets.create();
    await datasets.uploadNew(id, markedSamples);
    return id;
  }

  /** An environment whose tasks are the trajectories of a dataset. */
  async function environmentOf(config: object, dataset_id: string): Promise<string> {
    const name = await episodes.environment(config);
    const added = await presage.call("POST", `/v1/environments/${name}/tasks`, { dataset_id, split: "test" });
    expect(added.status).toBe(201);
    return name;
  }

  function listen(): ReceivedRequest["body"][] {
    const asked: ReceivedRequest["body"][] = [];
    upstream.answer = ({ body }) => {
      asked.push(body);
      return Response.json(completion(`Seen ${asked.length}.`));
    };
    return asked;
  }

  const post = async (path: string, body: object, method = "POST") => {
    const response = await presage.call(method, path, body);
    // biome-ignore lint/suspicious/noExplicitAny: each of the responses has a shape of its own
    return { status: response.status, body: (await response.json()) as any };
  };

  test("a world plays an environment in place of a deployment, pinned when that is set", async () => {
    const dataset = await newDataset();
    await worlds.create("shop", { examples: { dataset } });
    const created = await post("/v1/environments", { name: "of-shop", world: "shop" });
    expect(created).toMatchObject({ status: 201, body: { config: { world: "shop@1" } } });
    await post("/v1/worlds/shop", { retrieval: { k: 1 } }, "PATCH");
    const longer = await post("/v1/environments/of-shop", { max_steps: 9 }, "PATCH");
    expect(longer.body.config).toEqual({ world: "shop@1", max_steps: 9 });
    const anew = await post("/v1/environments/of-shop", { world: "shop" }, "PATCH");
    expect(anew.body.config.world).toBe("shop@2");
    for (const other of [
      { deployment: "default" },
      { context: { task_context: "t" } },
      { params: { seed: 1 } },
    ]) {
      const [field = ""] = Object.keys(other);
      const both = { name: "both", world: "shop", ...other };
      for (const refused of [
        await post("/v1/environments", both),
        await post("/v1/environments/of-shop", other, "PATCH"),
      ])
        expect(refused).toMatchObject({ status: 422, body: { detail: [{ loc: ["body", field] }] } });
    }
    for (const world of ["nowhere", "shop@7"]) {
      const refused = await post("/v1/environments", { name: "other", world });
      expect(refused).toMatchObject({ status: 422, body: { detail: [{ loc: ["body", "world"] }] } });
    }
    expect(await worlds.remove("shop")).toEqual({
      ...{ status: 409, detail: "The world shop is used by the environment of-shop." },
    });
    // An episode keeps the revision that it began with.
    await post("/v1/environments/of-shop/tasks", { initial_state: "The door is shut." });
    const episode = await episodes.start("of-shop");
    await post("/v1/environments/of-shop", { world: null, deployment: "default" }, "PATCH");
    expect((await worlds.remove("shop")).status).toBe(409);
    expect((await presage.call("DELETE", `/v1/episodes/${episode}`)).status).toBe(204);
    expect((await worlds.remove("shop")).status).toBe(204);
  });

  test("an environment without a reward of its own has its world's, in the revision that plays it", async () => {
    const reward = { evaluator: "exact-match", when: "every-step" };
    await worlds.create("paying", { examples: { dataset: await newDataset() }, reward });
    const rewardsIn = async (environment: string) => {
      listen();
      const id = await episodes.start(environment);
      return [await episodes.step(id, "open"), await episodes.step(id, "shut")].map(({ reward }) => reward);
    };
    const of = (config: object = {}) =>
      episodes.environment({ world: "paying", max_steps: 2, ...config }, { goal: "Seen 1." });
    const plain = await of();
    expect(await rewardsIn(plain)).toEqual([1, 0]);
    expect((await post(`/v1/environments/${plain}`, { max_steps: 3 }, "PATCH")).body.config).toEqual({
      ...{ world: "paying@1", max_steps: 3 },
    });
    expect(await rewardsIn(await of({ reward: { ...reward, when: "last" } }))).toEqual([null, 0]);
    await post("/v1/worlds/paying", { reward: null }, "PATCH");
    expect(await rewardsIn(await of())).toEqual([null, null]);
    expect(await rewardsIn(plain)).toEqual([1, 0]);
  });

  test("no episode of a task is told the answers of its own trajectory or task, in both forms", async () => {
    const examples = { dataset: await newDataset() };
    const tasks = await newDataset();
    await worlds.create("by-trajectory", { examples });
    await worlds.create("by-task", { examples, retrieval: { exclude_by: "tag:task" } });
    const others = { a: ["bcd", "cd"], b: ["acd", "cd"], c: ["abd", "ab"], d: ["abc", "ab"] };
    for (const prompt_form of ["state-action", "chat"]) {
      for (const [place, world] of ["by-trajectory", "by-task"].entries()) {
        const name = await environmentOf({ world, prompt_form }, tasks);
        for (const [index, told] of Object.values(others).entries()) {
          const asked = listen();
          const id = await episodes.start(name, { split: "test", index });
          for (const step of [0, 1, 2]) await episodes.step(id, `open door ${step}`);
          expect(asked).toHaveLength(3);
          for (const { messages } of asked) expect(readMarks(messages).trajectories).toBe(told[place] ?? "");
        }
      }
    }
  });

  test("a step is told the steps before, and keeps what it leaned on", async () => {
    const dataset = await newDataset();
    const model = { params: { temperature: 0.5 } };
    await worlds.create("told", { examples: { dataset }, retrieval: { k: 1 }, history: { steps: 2 }, model });
    const asked = listen();
    const id = await episodes.start(await environmentOf({ world: "told" }, dataset), {
      ...{ split: "test", index: 0, seed: 7 },
    });
    for (const step of [0, 1, 2, 3]) await episodes.step(id, `open door ${step}`);
    expect(asked[3]).toMatchObject({ temperature: 0.5, seed: 7 });
    expect(asked[3]?.messages.slice(3)).toEqual([
      { role: "user", content: "Action: open door 1" },
      { role: "assistant", content: "Seen 2." },
      { role: "user", content: "Action: open door 2" },
      { role: "assistant", content: "Seen 3." },
      { role: "user", content: "State: Seen 3.\n\nAction: open door 3" },
    ]);
    const { steps } = await episodes.read(id);
    const found = await presage.call("GET", `/v1/predictions/${steps[1]?.info.prediction_id}`);
    expect(await found.json()).toMatchObject({
      ...{ interaction: { state: "Seen 1.", action: "open door 1" }, params: { temperature: 0.5, seed: 7 } },
      world: {
        ...{ name: "told", revision: 1, answered_by: "default" },
        examples: [{ trajectory_id: expect.stringMatching(/^[b-d]$/), similarity: expect.any(Number) }],
      },
    });
  });

  test("a conversation keeps the examples of its beginning", async () => {
    const dataset = await newDataset();
    await worlds.create("kept", { examples: { dataset }, retrieval: { k: 2 } });
    const asked = listen();
    const name = await environmentOf({ world: "kept", prompt_form: "chat" }, dataset);
    const id = await episodes.start(name, { split: "test", index: 0 });
    for (const step of [2, 1, 0]) await episodes.step(id, `open door ${step}`);
    const [first, second, third] = asked.map(({ messages }) => messages);
    expect(first?.at(-1)?.content).toBe("State: Room of a, 0.\n\nAction: open door 2");
    expect(second).toEqual([
      ...(first ?? []),
      { role: "assistant", content: "Seen 1." },
      { role: "user", content: "Action: open door 1" },
    ]);
    expect(third?.slice(0, second?.length)).toEqual(second);
    expect(first).toHaveLength(6);
  });

  test("a world of records alone plays both forms, without a model", async () => {
    const dataset = await newDataset();
    await worlds.create("records", { examples: { dataset }, model: { kind: "retrieval" } });
    const asked = listen();
    for (const prompt_form of ["state-action", "chat"]) {
      const name = await environmentOf({ world: "records", prompt_form }, dataset);
      const id = await episodes.start(name, { split: "test", index: 0 });
      for (const step of [2, 0]) {
        const { observation, info } = await episodes.step(id, `open door ${step}`);
        expect(observation).toMatch(new RegExp(`^Opened: word-[b-d]${step}-end\\.$`));
        expect(info.deployment).toBe("retrieval");
      }
    }
    expect(asked).toEqual([]);
  });

  test("what was recorded as no output is an observation, and the episode goes on", async () => {
    const dataset = await datasets.create();
    const interaction = { state: "A shell.", action: "touch key" };
    await datasets.uploadNew(dataset, [{ trajectory_id: "quiet", step: 0, interaction, next_state: "" }]);
    await worlds.create("shell", { examples: { dataset }, model: { kind: "retrieval" } });
    for (const prompt_form of ["state-action", "chat"]) {
      const id = await episodes.start(await episodes.environment({ world: "shell", prompt_form }));
      for (const step of [1, 2])
        expect(await episodes.step(id, "touch key")).toMatchObject({ observation: "", info: { step } });
    }
  });
});
