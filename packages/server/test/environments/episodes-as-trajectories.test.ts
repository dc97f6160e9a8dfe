import { expect, test } from "bun:test";
import {
  Dataset,
  DatasetRevision,
  type DatasetSample,
  EnvironmentRevisionListResponse,
  EpisodeFiguresResponse,
  EpisodeListResponse,
  EpisodeStart,
  StepResponse,
  StoredPredictionDetail,
} from "@presage/contract";
import { readEpisodeLines } from "../../src/environments/episodes/episode-lines.ts";
import { usePresage } from "../support/presage/use-presage.ts";
import { onAnyDatabase } from "../support/store/databases.ts";
import { openStore } from "../support/store/open-store.ts";
import { anyRequester } from "../support/store/requester.ts";
import { completion } from "../support/upstream/upstream.ts";
import { useUpstream } from "../support/upstream/use-upstream.ts";

onAnyDatabase((database) => {
  const upstream = useUpstream();
  const presage = usePresage({ database, PRESAGE_UPSTREAM_URL: upstream.url, PRESAGE_UPSTREAM_RETRIES: "0" });
  let made = 0;

  async function post(path: string, body: unknown, status = 201): Promise<unknown> {
    const response = await presage.call("POST", path, body);
    const text = await response.text();
    expect([path, response.status, text.slice(0, 500)]).toEqual([path, status, expect.anything()]);
    return JSON.parse(text);
  }
  const get = async (path: string): Promise<unknown> => (await presage.call("GET", path)).json();

  /** Makes an environment whose upstream repeats the action it was told. */
  async function environment(config: object = {}, tasks = 1): Promise<string> {
    upstream.answer = ({ body }) =>
      Response.json(completion(`after ${body.messages.at(-1)?.content.split("Action: ").at(-1)}`));
    made += 1;
    const name = `trajectories-${made}`;
    const stop = [
      { action_equals: "win", outcome: "success" },
      { action_equals: "lose", outcome: "failure" },
    ];
    await post("/v1/environments", { name, stop, context: { task_context: "A task" }, ...config });
    for (let index = 0; index < tasks; index += 1)
      await post(`/v1/environments/${name}/tasks`, { initial_state: `start ${index}` });
    return name;
  }

  async function play(
    name: string,
    actions: readonly string[],
    index = 0,
  ): Promise<[string, StepResponse[]]> {
    const { episode_id } = EpisodeStart.parse(await post("/v1/episodes", { environment: name, index }));
    const steps: StepResponse[] = [];
    for (const action of actions)
      steps.push(StepResponse.parse(await post(`/v1/episodes/${episode_id}/step`, { action }, 200)));
    return [episode_id, steps];
  }

  async function dataset(): Promise<string> {
    made += 1;
    return Dataset.parse(await post("/v1/datasets", { name: `rollouts-${made}` })).id;
  }

  const fromEpisodes = "revisions?from=episodes";

  async function samplesOf(id: string): Promise<DatasetSample[]> {
    const { data } = (await get(`/v1/datasets/${id}/samples`)) as { data: DatasetSample[] };
    return data;
  }

  test("an export of episodes of which one is too long a conversation is refused before it begins", async () => {
    const name = await environment({ prompt_form: "chat" });
    await play(name, ["one", "win"]);
    const [id] = await play(name, ["one"]);
    await using opened = await openStore(presage.databaseUrl);
    const setSteps = (steps: number) =>
      opened.database.updateTable("episodes").set({ steps }).where("id", "=", id).execute();
    const exported = async (query = "") => {
      const response = await presage.call("GET", `/v1/episodes/export?environment=${name}${query}`);
      return [response.status, await response.text()];
    };
    await setSteps(500);
    expect(await exported()).toEqual([200, expect.any(String)]);
    await setSteps(501);
    for (const query of ["", "&format=atif", "&format=openai-chat"])
      expect(await exported(query)).toEqual([409, expect.stringContaining(`The episode ${id} is`)]);
    expect(await exported("&format=sft&direction=agent")).toEqual([200, expect.any(String)]);
  });

  test("episodes become the trajectories of a revision, oldest first, and an open one is one of them", async () => {
    const name = await environment();
    const [first] = await play(name, ["one", "win"]);
    const [second] = await play(name, ["two"]);
    await play(name, []);
    const id = await dataset();
    const revision = await post(`/v1/datasets/${id}/${fromEpisodes}`, { environment: name });
    expect(DatasetRevision.parse(revision)).toMatchObject({ revision: 1, samples: 3, trajectories: 2 });
    const samples = await samplesOf(id);
    expect(samples.map(({ trajectory_id, step }) => [trajectory_id, step])).toEqual([
      [first, 0],
      [first, 1],
      [second, 0],
    ]);
    expect(samples[1]).toEqual({
      dataset_sample_id: `${first}/1`,
      trajectory_id: first,
      step: 1,
      context: { task_context: "A task" },
      interaction: { state: "after one", action: "win" },
      next_state: "after win",
      reward: 1,
      done: true,
      tags: {
        environment: name,
        environment_revision: "1",
        split: "train",
        task: "0",
        status: "finished",
        outcome: "success",
      },
    });
    expect(samples[2]).toMatchObject({ interaction: { state: "start 0", action: "two" }, done: false });
    // The same episodes are the same revision.
    const again = await post(`/v1/datasets/${id}/${fromEpisodes}`, { environment: name }, 200);
    expect(again).toMatchObject({ revision: 1 });
    // They are redacted and split as other lines are.
    const rules = encodeURIComponent('{"rules":[{"name":"word","pattern":"after"}]}');
    const options = `&redact_rules=${rules}&split_by=trajectory&test=1`;
    await post(`/v1/datasets/${id}/${fromEpisodes}${options}`, { environment: name });
    const [, split] = await samplesOf(id);
    expect(split).toMatchObject({ next_state: "[redacted:word#1] win", tags: { split: "test" } });
  });

  test("an episode that is cut off has no end, and its agent learns from what it was told", async () => {
    for (const prompt_form of ["state-action", "chat"]) {
      const name = await environment(
        { prompt_form, max_steps: 2, context: { domain_knowledge: "Rules." } },
        0,
      );
      await post(`/v1/environments/${name}/tasks`, { initial_state: "start", prompt: "Unlock the door." });
      await play(name, ["one", "two"]);
      const id = await dataset();
      await post(`/v1/datasets/${id}/${fromEpisodes}`, { environment: name });
      expect((await samplesOf(id)).map(({ done }) => done)).toEqual([false, false]);
      const asAgent = `/v1/episodes/export?environment=${name}&format=sft&direction=agent`;
      expect(await get(asAgent)).toMatchObject({
        messages: ["Unlock the door.\n\nstart", "one", "after one", "two", "after two"].map(
          (content, at) => ({
            role: at % 2 === 0 ? "user" : "assistant",
            content,
          }),
        ),
      });
    }
  });

  test("episodes are chosen by what they are, or by their ids, and can be appended", async () => {
    const name = await environment({}, 2);
    const [won] = await play(name, ["win"]);
    const [lost] = await play(name, ["lose"], 1);
    const [open] = await play(name, ["one"], 1);
    const id = await dataset();
    const make = async (body: object, query = "", status = 201) => {
      await post(`/v1/datasets/${id}/${fromEpisodes}${query}`, body, status);
      return (await samplesOf(id)).map((sample) => sample.trajectory_id);
    };
    expect(await make({ environment: name, outcome: "success" })).toEqual([won]);
    expect(await make({ environment: name, status: "open" })).toEqual([open]);
    expect(await make({ environment: name, index: 1 })).toEqual([lost, open]);
    expect(await make({ ids: [lost] })).toEqual([lost]);
    expect(await make({ ids: [won] }, "&append=true")).toEqual([lost, won]);
    const future = { environment: name, from: "2100-01-01T00:00:00Z" };
    expect(await make(future, "", 422)).toEqual([lost, won]);
    await make({}, "", 422);
    await make({ environment: name, outcome: "won" }, "", 422);
    await make({ environment: name }, "&format=chat", 422);
    await make({ environment: "no-such" }, "", 404);
    // The latest revision already has a line of this episode.
    await make({ ids: [won] }, "&append=true", 422);
  });

  test("a conversation's steps become samples with all messages before them, as they were sent", async () => {
    const name = await environment({ prompt_form: "chat" });
    const [episode, steps] = await play(name, ["one", "two"]);
    const sent = upstream.received.at(-1)?.body.messages;
    const id = await dataset();
    await post(`/v1/datasets/${id}/${fromEpisodes}`, { ids: [episode] });
    const [, last] = await samplesOf(id);
    expect(last?.messages).toEqual(sent as DatasetSample["messages"]);
    const path = `/v1/predictions/${steps[1]?.info.prediction_id}`;
    const kept = StoredPredictionDetail.parse(await get(path));
    expect(kept).toMatchObject({ source: "episode", messages: sent, interaction: null, output: "after two" });
  });

  test("a step after an observation without text becomes a sample with its messages", async () => {
    const [id] = await play(await environment(), ["one", "two"]);
    // Changes the payload to how earlier versions stored it.
    await using store = await openStore(presage.databaseUrl);
    await store.database
      .updateTable("prediction_payloads")
      .set({ output: "" })
      .where("prediction_id", "in", (of) =>
        of.selectFrom("predictions").select("id").where("run_id", "=", id),
      )
      .execute();
    const rollouts = await dataset();
    await post(`/v1/datasets/${rollouts}/${fromEpisodes}`, { ids: [id] });
    expect(await samplesOf(rollouts)).toMatchObject([
      { step: 0, interaction: { state: "start 0", action: "one" }, next_state: "" },
      { step: 1, messages: [{ role: "system" }, { content: "State: \n\nAction: two" }], next_state: "" },
    ]);
  });

  test("a prediction of an episode shows the prompt that was sent", async () => {
    const name = await environment({ params: { top_p: 0.5 } });
    const { episode_id } = EpisodeStart.parse(await post("/v1/episodes", { environment: name, seed: 7 }));
    const ids: string[] = [];
    for (const action of ["one", "two"]) {
      const step = StepResponse.parse(await post(`/v1/episodes/${episode_id}/step`, { action }, 200));
      ids.push(step.info.prediction_id);
    }
    const [first, second] = await Promise.all(ids.map((id) => get(`/v1/predictions/${id}`)));
    const same = { context: { task_context: "A task" }, params: { temperature: 0, top_p: 0.5, seed: 7 } };
    expect(first).toMatchObject({ ...same, interaction: { state: "start 0", action: "one" } });
    expect(second).toMatchObject({ ...same, interaction: { state: "after one", action: "two" } });
  });

  test("lists have the filters that pages need, page by page", async () => {
    const name = await environment({ max_steps: 1 }, 2);
    const [won] = await play(name, ["win"]);
    const [cut] = await play(name, ["other"], 1);
    const [open] = await play(name, []);
    const list = async (query: string) => {
      const all: string[] = [];
      for (let after = ""; ; ) {
        const page = EpisodeListResponse.parse(
          await get(`/v1/episodes?environment=${name}&limit=1&${query}${after}`),
        );
        all.push(...page.data.map(({ id }) => id));
        if (page.next === null) return all;
        after = `&after=${page.next}`;
      }
    };
    expect(await list("")).toEqual([open, cut, won]);
    expect(await list("status=finished")).toEqual([cut, won]);
    expect(await list("status=expired")).toEqual([]);
    expect(await list("outcome=none")).toEqual([cut]);
    expect(await list("outcome=success")).toEqual([won]);
    expect(await list("split=train&index=0")).toEqual([open, won]);
    expect(await list("revision=2")).toEqual([]);
    expect((await presage.call("GET", "/v1/episodes?status=ended")).status).toBe(422);
  });

  test("figures are by environment, revision, deployment and split, with an interval by task", async () => {
    const name = await environment({ guards: { repeat_limit: 1 } }, 3);
    for (const index of [0, 1]) await play(name, ["win"], index);
    await play(name, ["lose"], 2);
    await presage.call("PATCH", `/v1/environments/${name}`, { max_steps: 5 });
    await play(name, ["other"], 0);
    await play(name, []);
    const figures = async (query: string) =>
      EpisodeFiguresResponse.parse(await get(`/v1/episodes/figures?environment=${name}&${query}`)).data;
    const [all] = await figures("");
    expect(all).toMatchObject({
      environment: name,
      episodes: 5,
      open: 1,
      expired: 0,
      finished: 4,
      successes: 2,
      failures: 1,
      tasks: 3,
      success_rate: 0.5,
      mean_steps: 1,
      rewarded: 4,
      mean_reward: 0.5,
    });
    // Computed by hand from clusters of (ended, won) = (2, 1), (1, 1), (1, 0).
    const error = Math.sqrt((3 / 2) * (0 + 0.25 + 0.25)) / 4;
    expect(all?.success_interval?.lower).toBeLessThan(0.5 - error);
    expect(all?.success_interval?.upper).toBeGreaterThan(0.5 + error);
    expect((await figures("by=revision")).map(({ revision, episodes }) => [revision, episodes])).toEqual([
      [1, 3],
      [2, 2],
    ]);
    const byDeployment = await figures("by=deployment");
    expect(byDeployment.map(({ deployment, finished }) => [deployment, finished])).toContainEqual([
      "default",
      4,
    ]);
    expect(await figures("by=split")).toMatchObject([{ split: "train", successes: 2 }]);
    expect(await figures("from=2100-01-01")).toEqual([]);
    expect((await presage.call("GET", "/v1/episodes/figures?environment=no-such")).status).toBe(404);
    const every = EpisodeFiguresResponse.parse(await get("/v1/episodes/figures")).data;
    expect(every.find(({ environment }) => environment === name)).toEqual(all);
  });

  test("an environment shows what it was made of in each revision", async () => {
    const name = await environment();
    await presage.call("PATCH", `/v1/environments/${name}`, { max_steps: 5 });
    const list = async (query = "") =>
      EnvironmentRevisionListResponse.parse(await get(`/v1/environments/${name}/revisions${query}`));
    const { data } = await list();
    expect(data.map(({ revision, config }) => [revision, config.max_steps])).toEqual([
      [2, 5],
      [1, undefined],
    ]);
    const page = await list("?limit=1");
    expect(page).toMatchObject({ data: [{ revision: 2 }], next: "2" });
    expect(await list(`?limit=1&after=${page.next}`)).toMatchObject({ data: [{ revision: 1 }], next: null });
    expect(await get("/v1/environments/sandbox/revisions")).toMatchObject({
      data: [{ revision: 1, created_at: null }],
      next: null,
    });
  });

  test("an episode that is deleted while others are read is left out", async () => {
    const name = await environment();
    // Each text is long enough to be read as its own part.
    upstream.answer = () => Response.json(completion("x".repeat(120_000)));
    const [first] = await play(name, ["one"]);
    const [second] = await play(name, ["one"]);
    const [third] = await play(name, ["one"]);
    await using store = await openStore(presage.databaseUrl);
    const { account_id } = await store.database
      .selectFrom("episodes")
      .select("account_id")
      .where("id", "=", first)
      .executeTakeFirstOrThrow();
    const seen: string[] = [];
    for await (const part of readEpisodeLines({ store }, anyRequester(account_id), { environment: name })) {
      seen.push(JSON.parse(part.toString()).trajectory_id);
      await presage.call("DELETE", `/v1/episodes/${second}`);
    }
    expect(seen).toEqual([first, third]);
  });
});
