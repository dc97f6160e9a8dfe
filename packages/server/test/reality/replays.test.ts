import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  Dataset,
  EnvironmentDetail,
  EpisodeReality,
  EpisodeStart,
  RealEnvironmentListResponse,
  RealityCheck,
  RealityCheckDetail,
  RealityCheckListResponse,
  RealityEpisodeListResponse,
  RealityFigures,
} from "@presage/contract";
import { sandboxTasks } from "../../src/environments/environment.ts";
import { insertRows } from "../../src/platform/storage/rows.ts";
import { orsClient } from "../support/environments/ors-client.ts";
import { eventually } from "../support/eventually.ts";
import { openEnvSocket } from "../support/openenv/openenv-socket.ts";
import { startPresage, type TestPresage, testKey } from "../support/presage/presage.ts";
import { onAnyDatabase } from "../support/store/databases.ts";
import { openStore } from "../support/store/open-store.ts";
import { slowTest } from "../support/whole-run.ts";

/** In reality, only the task's goal counts as success; in simulation, an open chest does too. */
const isGoal = { output_contains: "{goal}", outcome: "success" };
const isOpen = { output_contains: "chest is now open", outcome: "success" };

let real: TestPresage;
/** Accepts every request and never answers. */
const silent = Bun.serve({ port: 0, idleTimeout: 0, fetch: () => new Promise<Response>(() => {}) });
let directory = "";
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "presage-replays-"));
  real = await startPresage({});
  const lab = { name: "lab", prompt_form: "chat", stop: [isGoal] };
  expect((await real.call("POST", "/v1/environments", lab)).status).toBe(201);
  await Bun.write(
    join(directory, "real.yaml"),
    `environments:
  lab: { protocol: http, url: "${real.url}", environment: lab, api_key_env: LAB_KEY, reset: { task: "{task}" }, action: { action: "{action}" } }
  silent: { protocol: http, url: "${silent.url.origin}", environment: lab, timeout_ms: 300000, reset: { task: "{task}" }, action: { action: "{action}" } }
  picky: { protocol: http, url: "${real.url}", environment: lab, api_key_env: LAB_KEY, reset: { task: "{metadata.absent}" }, action: { action: "{action}" } }
  gone: { protocol: http, url: "http://127.0.0.1:9", environment: lab, reset: { task: "{task}" }, action: { action: "{action}" } }
`,
  );
});
afterAll(async () => {
  await real.stop();
  await silent.stop(true);
  await rm(directory, { recursive: true });
});

const [lantern] = sandboxTasks("train").map(({ task }) => task);

onAnyDatabase((database) => {
  let presage: TestPresage;
  let url = "";
  const start = () =>
    startPresage({
      PRESAGE_DATABASE_URL: url,
      PRESAGE_REAL_ENVIRONMENTS: join(directory, "real.yaml"),
      LAB_KEY: testKey,
    });
  beforeAll(async () => {
    url = await database.create();
    presage = await start();
  });
  afterAll(() => presage.stop());

  async function call(method: string, path: string, body?: unknown): Promise<unknown> {
    const response = await presage.call(method, path, body);
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return JSON.parse(text);
  }
  const make = (name: string, config: object) =>
    call("POST", "/v1/environments", { name, prompt_form: "chat", stop: [isGoal, isOpen], ...config });

  /** Plays a separate task with each of these actions; returns the episodes. */
  async function play(environment: string, actions: string[], policy?: string): Promise<string[]> {
    return await Promise.all(
      actions.map(async (action, index) => {
        const task = { ...lantern, metadata: { number: index, policy } };
        const started = await call("POST", "/v1/episodes", { environment, task, policy });
        const { episode_id: id } = EpisodeStart.parse(started);
        await call("POST", `/v1/episodes/${id}/step`, { action });
        return id;
      }),
    );
  }

  const addTask = (environment: string) =>
    call("POST", `/v1/environments/${environment}/tasks`, JSON.stringify({ split: "test", ...lantern }));

  async function ended(id: string): Promise<RealityCheckDetail> {
    const read = async () => RealityCheckDetail.parse(await call("GET", `/v1/reality-checks/${id}`));
    return await eventually(read, ({ status }) => status !== "running");
  }

  test("actions of simulated episodes are sent to the real environment, and what happened there is kept", async () => {
    await make("rooms", { real: { name: "lab" } });
    const actions = [...Array(4).fill("activate lantern"), ...Array(3).fill("open chest"), "look"];
    const ids = await play("rooms", actions, "step-1");
    const made = await call("POST", "/v1/reality-checks", {
      environment: "rooms",
      episodes: { policy: "step-1" },
    });
    const { id, name, source, real: where } = RealityCheck.parse(made);
    expect([name, source, where]).toEqual(["rooms, revision 1, against lab", "episodes", "lab"]);
    const check = await ended(id);
    // The one that only looked is open, and not replayed.
    expect(check).toMatchObject({ status: "completed", episodes: 7, waiting: 0, failed: 0 });
    expect(check.figures.counts).toEqual({ both: 4, only_simulated: 3, only_real: 0, neither: 0 });
    expect(check.figures.policies.map(({ policy }) => policy)).toEqual(["step-1"]);
    expect(check.figures.divergence).toMatchObject({ count: 7, diverged: 0 });

    const falseOnes = await call("GET", `/v1/reality-checks/${id}/episodes?show=false-successes`);
    const { data } = RealityEpisodeListResponse.parse(falseOnes);
    expect(data.map((one) => one.episode_id).toSorted()).toEqual(ids.slice(4, 7).toSorted());
    const reality = EpisodeReality.parse(await call("GET", `/v1/episodes/${ids[4]}/reality`));
    expect(reality).toMatchObject({ check_id: id, simulated: true, real: false, real_environment: "lab" });
    expect(reality.real_steps).toMatchObject([
      { action: "open chest", observation: "The chest is now open.", reward: null, done: false },
    ]);
    expect((await presage.call("GET", `/v1/episodes/${ids[7]}/reality`)).status).toBe(404);

    // The outcomes stay in the figures; the texts go with the episode.
    expect((await presage.call("DELETE", `/v1/episodes/${ids[4]}`)).status).toBe(204);
    const after = EpisodeReality.parse(await call("GET", `/v1/episodes/${ids[4]}/reality`));
    expect(after).toMatchObject({ real: false, real_steps: [] });
  });

  test("a real environment that is away pauses the check with the reason, and is no verdict", async () => {
    await make("lost", { real: { name: "gone" } });
    await play("lost", Array(25).fill("activate lantern"));
    const made = await call("POST", "/v1/reality-checks", { environment: "lost", episodes: {} });
    const paused = await ended(RealityCheck.parse(made).id);
    expect(paused).toMatchObject({ status: "paused", episodes: 0 });
    expect(paused.reason).toContain("20 episodes in a row could not be replayed");
    expect(paused.failed).toBeGreaterThanOrEqual(20);
    const listed = await call("GET", "/v1/reality-checks?status=paused");
    expect(RealityCheckListResponse.parse(listed).data.map(({ id }) => id)).toEqual([paused.id]);
    const failed = await call("GET", `/v1/reality-checks/${paused.id}/episodes?show=failed&limit=1`);
    expect(RealityEpisodeListResponse.parse(failed).data[0]).toMatchObject({
      real: null,
      error: expect.any(String),
    });
    const resumed = await call("POST", `/v1/reality-checks/${paused.id}/resume`);
    expect(RealityCheck.parse(resumed)).toMatchObject({ status: "running", failed: 0, waiting: 25 });
    const cancelled = await call("POST", `/v1/reality-checks/${paused.id}/cancel`);
    expect(RealityCheck.parse(cancelled).status).toBe("cancelled");
    expect((await presage.call("POST", `/v1/reality-checks/${paused.id}/resume`)).status).toBe(409);
  });

  test("tasks that lack what is sent, and deleted episodes, fail without pausing their check", async () => {
    await make("picked", { real: { name: "picky" } });
    await play("picked", Array(21).fill("activate lantern"));
    const made = await call("POST", "/v1/reality-checks", { environment: "picked" });
    const { id } = RealityCheck.parse(made);
    expect(await ended(id)).toMatchObject({ status: "completed", episodes: 0, failed: 21 });

    await make("leaving", { real: { name: "gone" } });
    const ids = await play("leaving", Array(21).fill("activate lantern"));
    const begun = RealityCheck.parse(await call("POST", "/v1/reality-checks", { environment: "leaving" }));
    expect((await ended(begun.id)).status).toBe("paused");
    for (const one of ids) await presage.call("DELETE", `/v1/episodes/${one}`);
    await call("POST", `/v1/reality-checks/${begun.id}/resume`);
    expect(await ended(begun.id)).toMatchObject({ status: "completed", failed: 21 });
    const failed = await call("GET", `/v1/reality-checks/${begun.id}/episodes?show=failed&limit=1`);
    expect(RealityEpisodeListResponse.parse(failed).data[0]?.error).toBe(
      "It cannot be replayed: It was deleted.",
    );
  });

  test("ended episodes are drawn by their share; an alarm refuses further ones until the next revision", async () => {
    const real = { name: "lab", share: 1, false_success_limit: 0.2, on_alarm: "refuse" };
    await make("watched", { real });
    await play("watched", Array(40).fill("open chest"), "late");
    const read = async () => EnvironmentDetail.parse(await call("GET", "/v1/environments/watched"));
    const { reality } = await eventually(read, (found) => found.reality?.state === "alarm");
    expect(reality).toMatchObject({
      state: "alarm",
      value: 1,
      policies: [{ policy: "late", state: "alarm" }],
    });
    const listed = await call("GET", "/v1/reality-checks?environment=watched");
    expect(RealityCheckListResponse.parse(listed).data).toMatchObject([
      { source: "continuous", status: "running", environment_revision: 1, real: "lab" },
    ]);
    const body = { environment: "watched", task: lantern };
    const refusal = async () => (await presage.call("POST", "/v1/episodes", body)).status;
    expect(await eventually(refusal, (status) => status === 409)).toBe(409);
    const why =
      /^The environment watched refuses new episodes: its false success rate is above the limit of 0.2. Of .* failed in reality: 100.0 %/;
    expect(await (await presage.call("POST", "/v1/episodes", body)).json()).toEqual({
      detail: expect.stringMatching(why),
      category: "reality_alarm",
    });
    await addTask("watched");
    const ors = orsClient(presage);
    const created = { env_name: "watched", split: "test", index: 0 };
    const refused = await ors.send("POST", "/create", created, await ors.newSession());
    expect([refused.status, await refused.json()]).toEqual([
      409,
      { detail: expect.stringMatching(why), category: "reality_alarm" },
    ]);
    const socket = await openEnvSocket(presage.url, "watched");
    expect(await socket.reset({ split: "test", index: 0 })).toEqual({
      type: "error",
      data: { code: "EXECUTION_ERROR", message: expect.stringMatching(why) },
    });
    socket.close();
    const metrics = await (await presage.call("GET", "/metrics")).text();
    expect(metrics).toMatch(/presage_reality_alarm\{account="[^"]+",environment="watched"\} 1/);
    // A deleted check would be created again, and draw all episodes again.
    const [continuous] = RealityCheckListResponse.parse(listed).data;
    const check = `/v1/reality-checks/${continuous?.id}`;
    expect((await presage.call("DELETE", check)).status).toBe(409);

    const changed = await presage.call("PATCH", "/v1/environments/watched", { stop: [isGoal] });
    expect(changed.status).toBe(200);
    const started = EpisodeStart.parse(await call("POST", "/v1/episodes", body));
    expect(started.info.reality).toMatchObject({ state: "too-few", count: 0, policy: null });
    expect((await presage.call("DELETE", check)).status).toBe(204);
    expect((await presage.call("GET", check)).status).toBe(404);
    expect((await presage.call("DELETE", "/v1/environments/watched?with_episodes=true")).status).toBe(204);
    expect(await (await presage.call("GET", "/metrics")).text()).not.toContain('environment="watched"');
  });

  slowTest(
    "an alarm that only warns is told to clients of both protocols, beside what agents see",
    async () => {
      await make("warned", { real: { name: "lab", share: 1, false_success_limit: 0.2 } });
      await addTask("warned");
      await play("warned", Array(40).fill("open chest"), "late");
      const read = async () => EnvironmentDetail.parse(await call("GET", "/v1/environments/warned"));
      await eventually(read, (found) => found.reality?.state === "alarm");
      const reality = { state: "alarm", value: 1, false_success_limit: 0.2 };
      const started = await call("POST", "/v1/episodes", {
        environment: "warned",
        policy: "late",
        task: lantern,
      });
      const { info } = EpisodeStart.parse(started);
      expect(info.reality).toMatchObject({
        ...reality,
        policy: { policy: "late", state: "alarm", value: 1 },
      });
      const ors = orsClient(presage);
      const session = await ors.start({ env_name: "warned", split: "test", index: 0 });
      const { result } = await ors.call(session, "warned", "activate lantern");
      expect(result).toMatchObject({ ok: true, output: { metadata: { reality } } });
      const socket = await openEnvSocket(presage.url, "warned");
      expect((await socket.reset({ split: "test", index: 0 })).data).toMatchObject({ metadata: { reality } });
      expect((await socket.ask({ type: "state" })).data).toMatchObject({ step_count: 0, reality });
      socket.close();
      expect(JSON.stringify(result)).not.toContain("policies");
    },
  );

  test("what ended before a revision is drawn, though the revision came at once", async () => {
    await make("revised", { real: { name: "lab", share: 1, false_success_limit: 0.2 } });
    const read = async () =>
      RealityCheckListResponse.parse(await call("GET", "/v1/reality-checks?environment=revised")).data;
    await eventually(read, (found) => found.length === 1);
    await play("revised", Array(5).fill("activate lantern"));
    await call("PATCH", "/v1/environments/revised", { stop: [isGoal] });
    const [, check] = await eventually(read, ([, one]) => one?.status === "completed");
    expect(check).toMatchObject({ environment_revision: 1, episodes: 5, waiting: 0, failed: 0 });
  });

  test("however many episodes have ended, all are looked at, some at a time", async () => {
    await make("old", { real: { name: "gone", share: 0.001 } });
    const [played = ""] = await play("old", ["activate lantern"]);
    await using opened = await openStore(url);
    const episodes = opened.database.selectFrom("episodes").selectAll().where("id", "=", played);
    const one = await episodes.executeTakeFirstOrThrow();
    const ids = Array.from({ length: 12_000 }, () => Bun.randomUUIDv7());
    const rows = ids.map((id, index) => ({ ...one, id, last_active_at: 1 + index }));
    await insertRows(opened.database, "episodes", rows);
    await opened.database
      .updateTable("reality_checks")
      .set({ drawn_until: 0 })
      .where("environment", "=", "old")
      .execute();
    const drawn = [played, ...ids].filter((id) => Number(Bun.hash.wyhash(id)) / 2 ** 64 < 0.001).length;
    const read = async () =>
      RealityCheckListResponse.parse(await call("GET", "/v1/reality-checks?environment=old")).data[0];
    const check = await eventually(read, (found) => (found?.failed ?? 0) + (found?.waiting ?? 0) >= drawn);
    expect((check?.failed ?? 0) + (check?.waiting ?? 0)).toBe(drawn);
  });

  test("failures of a continuous check are in a row, however few episodes end at once", async () => {
    await make("dead", { real: { name: "gone", share: 1 } });
    const read = async () =>
      RealityCheckListResponse.parse(await call("GET", "/v1/reality-checks?environment=dead")).data[0];
    await play("dead", Array(12).fill("activate lantern"));
    await eventually(read, (check) => check?.failed === 12);
    await play("dead", Array(12).fill("activate lantern"));
    const check = await eventually(
      read,
      (one) => ((one?.failed ?? 0) >= 20 && one?.waiting === 0) || one?.status === "paused",
    );
    expect(check?.status).toBe("paused");
  });

  test("a check that is cancelled gives its places in the real environment back", async () => {
    await make("hanging", { real: { name: "silent" } });
    await play("hanging", Array(6).fill("activate lantern"));
    const body = { environment: "hanging", episodes: {}, false_success_limit: 0.1 };
    const made = await call("POST", "/v1/reality-checks", body);
    const inFlight = async () => {
      const { data } = RealEnvironmentListResponse.parse(await call("GET", "/v1/real-environments"));
      return data.find(({ name }) => name === "silent")?.in_flight;
    };
    await eventually(inFlight, (count) => count === 4);
    const check = `/v1/reality-checks/${RealityCheck.parse(made).id}`;
    const outcome = async () => RealityCheckDetail.parse(await call("GET", check)).figures.outcome;
    expect(await outcome()).toBeNull();
    await call("POST", `${check}/cancel`);
    expect(await outcome()).toBe("undecided");
    expect(await eventually(inFlight, (count) => count === 0)).toBe(0);
  });

  test("an episode that is checked again counts once, and those of earlier revisions are not of the latest", async () => {
    await make("again", { real: { name: "lab" } });
    await play("again", Array(3).fill("activate lantern"));
    const check = async () =>
      await ended(
        RealityCheck.parse(await call("POST", "/v1/reality-checks", { environment: "again", episodes: {} }))
          .id,
      );
    expect([(await check()).episodes, (await check()).episodes]).toEqual([3, 3]);
    const all = RealityFigures.parse(await call("GET", "/v1/environments/again/reality"));
    expect(all.agreement.count).toBe(3);

    await call("PATCH", "/v1/environments/again", { stop: [isGoal] });
    const body = { environment: "again", episodes: {} };
    expect((await presage.call("POST", "/v1/reality-checks", body)).status).toBe(422);
    await play("again", ["activate lantern"]);
    expect(await check()).toMatchObject({ environment_revision: 2, episodes: 1 });
  });

  test("an alarm refuses agents, not the recordings that show whether it is still right", async () => {
    await make("alarmed", { real: { name: "lab", false_success_limit: 0.1, on_alarm: "refuse" } });
    const body = { environment: "alarmed", task: lantern };
    const headers = { "x-api-key": testKey, "idempotency-key": "before" };
    const start = async () => await (await presage.call("POST", "/v1/episodes", body, headers)).json();
    const before = EpisodeStart.parse(await start());
    const pairs = Array.from({ length: 60 }, (_, task) => ({
      ...{ task_id: `t${task}`, simulated: true, real: false },
    }));
    await call("POST", "/v1/reality-checks", { name: "known", environment: "alarmed", pairs });
    // The metric rings even though nobody has asked for the state.
    const metrics = async () => await (await presage.call("GET", "/metrics")).text();
    const rings = /presage_reality_alarm\{account="[^"]+",environment="alarmed"\} 1/;
    expect(await eventually(metrics, (text) => rings.test(text))).toMatch(rings);
    expect((await presage.call("POST", "/v1/episodes", body)).status).toBe(409);
    expect(await start()).toMatchObject({ episode_id: before.episode_id });

    const { id: dataset } = Dataset.parse(await call("POST", "/v1/datasets", { name: "alarmed" }));
    const interaction = { state: "This room is called the workshop.", action: "look" };
    const line = { trajectory_id: "t", step: 0, interaction, next_state: "A workshop.", reward: 0 };
    await call("POST", `/v1/datasets/${dataset}/revisions`, line);
    const wanted = { environment: "alarmed", dataset_id: dataset };
    const { id } = RealityCheck.parse(await call("POST", "/v1/reality-checks", wanted));
    expect(await ended(id)).toMatchObject({ status: "completed", episodes: 1, failed: 0 });
    const listed = await call("GET", "/v1/reality-checks?environment=alarmed");
    for (const check of RealityCheckListResponse.parse(listed).data)
      expect((await presage.call("DELETE", `/v1/reality-checks/${check.id}`)).status).toBe(204);
    expect(await eventually(metrics, (text) => !rings.test(text))).not.toMatch(rings);
  });

  test("what a check of recordings plays is no episode of an agent", async () => {
    await make("mixed", { real: { name: "lab", share: 1 } });
    const { id: dataset } = Dataset.parse(await call("POST", "/v1/datasets", { name: "mixed" }));
    const interaction = { state: "This room is called the workshop.", action: "look" };
    const line = { trajectory_id: "t", step: 0, interaction, next_state: "A workshop.", reward: 0 };
    await call("POST", `/v1/datasets/${dataset}/revisions`, line);
    const wanted = { environment: "mixed", dataset_id: dataset };
    await ended(RealityCheck.parse(await call("POST", "/v1/reality-checks", wanted)).id);
    const [played] = await play("mixed", ["activate lantern"]);
    const continuous = async () =>
      RealityCheckListResponse.parse(await call("GET", "/v1/reality-checks?environment=mixed")).data.find(
        ({ source }) => source === "continuous",
      );
    const drawn = await eventually(continuous, (check) => check?.episodes === 1);
    expect(drawn).toMatchObject({ waiting: 0, failed: 0 });
    const body = { environment: "mixed", episodes: {} };
    const check = await ended(RealityCheck.parse(await call("POST", "/v1/reality-checks", body)).id);
    expect(check.episodes).toBe(1);
    const figures = await call("GET", "/v1/episodes/figures?environment=mixed");
    expect(figures).toMatchObject({ data: [{ episodes: 1 }] });
    const exported = await (await presage.call("GET", "/v1/episodes/export?environment=mixed")).text();
    expect(exported.trim().split("\n")).toEqual([expect.stringContaining(`"${played}"`)]);
  });

  test("without a source, ended episodes of the environment are drawn", async () => {
    await make("drawn", { real: { name: "lab" } });
    const ids = await play("drawn", Array(5).fill("activate lantern"));
    const made = await call("POST", "/v1/reality-checks", { environment: "drawn", limit: 2, seed: 7 });
    const { id, source } = RealityCheck.parse(made);
    expect(source).toBe("episodes");
    expect(await ended(id)).toMatchObject({ status: "completed", episodes: 2 });
    const { data } = RealityEpisodeListResponse.parse(await call("GET", `/v1/reality-checks/${id}/episodes`));
    expect(ids).toEqual(expect.arrayContaining(data.map((one) => one.episode_id)));
  });

  slowTest("a restarted server resumes a check that was under way", async () => {
    await make("stopped", { real: { name: "lab" } });
    await play("stopped", Array(30).fill("activate lantern"));
    const made = await call("POST", "/v1/reality-checks", { environment: "stopped", episodes: {} });
    await presage.stop();
    presage = await start();
    const check = await ended(RealityCheck.parse(made).id);
    expect(check).toMatchObject({ status: "completed", episodes: 30, waiting: 0, failed: 0 });
    expect(check.figures.counts).toMatchObject({ both: 30 });
  });

  test("what cannot be checked is refused", async () => {
    await make("hopeless", { real: { name: "lab" }, stop: [] });
    const refusals: [object, string][] = [
      [{ environment: "sandbox" }, "names no real environment"],
      [{ environment: "absent", episodes: {} }, "no environment of this name"],
      [{ environment: "rooms", environment_revision: 9, episodes: {} }, "no such revision"],
      [{ environment: "rooms", episodes: { policy: "absent" } }, "No ended episode of revision 1 matches"],
      [{ environment: "rooms", episodes: {}, dataset_id: "absent" }, "Give one of pairs, episodes"],
      [{ environment: "rooms", dataset_id: "absent" }, "no such dataset"],
      [{ environment: "sandbox", dataset_id: "absent" }, "success is about {goal}"],
      [{ environment: "hopeless", episodes: {} }, "Nothing says what success in it is"],
      [{ environment: "hopeless", dataset_id: "absent" }, "Nothing says what success in it is"],
      [{ episodes: {} }, "Field required"],
    ];
    for (const [body, reason] of refusals) {
      const response = await presage.call("POST", "/v1/reality-checks", body);
      expect([response.status, await response.text()]).toEqual([422, expect.stringContaining(reason)]);
    }
    for (const checked of [{ false_success_limit: 0.1 }, { share: 0.5 }]) {
      const idle = { name: "idle", real: { name: "lab", ...checked } };
      const refused = await presage.call("POST", "/v1/environments", idle);
      expect([refused.status, await refused.text()]).toEqual([
        422,
        expect.stringContaining("Nothing says what success is"),
      ]);
    }
    const unknown = { name: "other", real: { name: "absent", share: 0.5 } };
    const response = await presage.call("POST", "/v1/environments", unknown);
    expect([response.status, await response.text()]).toEqual([
      422,
      expect.stringContaining("no real environment"),
    ]);
  });
});
