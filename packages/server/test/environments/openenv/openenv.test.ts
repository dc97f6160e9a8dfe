import { expect, test } from "bun:test";
import { Episode } from "@presage/contract";
import { expectEventually } from "../../support/eventually.ts";
import { episodeOf, openEnvPath, openEnvSocket } from "../../support/openenv/openenv-socket.ts";
import { startPresage } from "../../support/presage/presage.ts";
import { usePresage } from "../../support/presage/use-presage.ts";
import { apiKeyClient } from "../../support/resources/api-keys.ts";
import { keyOfAnotherAccount } from "../../support/resources/other-account.ts";
import { onAnyDatabase } from "../../support/store/databases.ts";
import { openStore } from "../../support/store/open-store.ts";
import { echo } from "../../support/upstream/echo.ts";
import { completion } from "../../support/upstream/upstream.ts";
import { useUpstream } from "../../support/upstream/use-upstream.ts";

onAnyDatabase((database) => {
  const upstream = useUpstream();
  const presage = usePresage({ database, PRESAGE_UPSTREAM_URL: upstream.url, PRESAGE_UPSTREAM_RETRIES: "0" });
  let environments = 0;

  /** An environment with one task, of three steps at most. */
  async function environment(config: object = {}): Promise<string> {
    environments += 1;
    const name = `openenv-${environments}`;
    await presage.call("POST", "/v1/environments", { name, max_steps: 3, ...config });
    await presage.call("POST", `/v1/environments/${name}/tasks`, {
      initial_state: "The lamp is off.",
      prompt: "Turn on the lamp.",
      goal: "The lamp is on.",
    });
    return name;
  }

  const connect = (name: string) => openEnvSocket(presage.url, name);

  async function read(id: string): Promise<Episode> {
    return Episode.parse(await (await presage.call("GET", `/v1/episodes/${id}`)).json());
  }

  test("of 400 episodes that begin at once none is refused", async () => {
    const sockets = await Promise.all(Array.from({ length: 400 }, () => connect("sandbox")));
    const replies = await Promise.all(sockets.map((socket) => socket.reset({ index: 0 })));
    expect(replies.filter(({ type }) => type !== "observation")).toEqual([]);
    for (const socket of sockets) socket.close();
  }, 60_000);

  test("an episode from its start to its end", async () => {
    const name = await environment({ stop: [{ output_contains: "{goal}", outcome: "success" }] });
    const socket = await connect(name);
    expect(await socket.ask({ type: "state" })).toEqual({
      type: "state",
      data: { episode_id: null, step_count: 0 },
    });
    const started = await socket.reset({ seed: 7, unknown_field: true });
    const id = episodeOf(started);
    expect(started).toMatchObject({
      type: "observation",
      data: {
        observation: {
          prompt: "Turn on the lamp.\n\nThe lamp is off.",
          truncated: false,
          metadata: { episode_id: id, step: 0 },
        },
        reward: null,
        done: false,
        metadata: { environment: name, split: "train", index: 0, max_steps: 3 },
      },
    });
    echo(upstream);
    const first = await socket.step("look");
    expect(first.data).toMatchObject({
      observation: {
        prompt: "after State: The lamp is off.\n\nAction: look",
        truncated: false,
        metadata: { episode_id: id, step: 1 },
      },
      reward: null,
      done: false,
    });
    expect(await socket.ask({ type: "state" })).toMatchObject({
      type: "state",
      data: { episode_id: id, step_count: 1, status: "open", seed: 7 },
    });
    upstream.answer = () => Response.json(completion("The lamp is on."));
    const last = await socket.step("turn on the lamp");
    expect(last.data).toMatchObject({
      observation: { prompt: "The lamp is on.", truncated: false },
      reward: 1,
      done: true,
      metadata: { outcome: "success", model: expect.any(String) },
    });
    expect((await socket.step("more")).data).toMatchObject({ code: "EXECUTION_ERROR" });
    // The next episode on the same socket.
    expect(episodeOf(await socket.reset())).not.toBe(id);
    socket.send({ type: "close" });
    expect(await socket.closed).toMatchObject({ code: 1000 });
    expect(await read(id)).toMatchObject({ status: "finished", steps_taken: 2, outcome: "success" });
    // The model was told the seed.
    expect(upstream.received.at(-1)?.body.seed).toBe(7);
  });

  test("an episode that is cut short is done and truncated", async () => {
    echo(upstream);
    const socket = await connect(await environment({ max_steps: 1 }));
    await socket.reset();
    expect((await socket.step("look")).data).toMatchObject({
      observation: { truncated: true },
      done: true,
      reward: null,
    });
    socket.close();
  });

  test("an episode goes on over another socket, with the last answer once more", async () => {
    echo(upstream);
    const name = await environment();
    const before = await connect(name);
    const started = await before.reset();
    const id = episodeOf(started);
    before.cut();
    const second = await connect(name);
    expect(await second.reset({ episode_id: id })).toEqual(started);
    const first = await second.step("look");
    second.cut();
    const third = await connect(name);
    expect(await third.reset({ episode_id: id, index: 5 })).toEqual(first);
    await third.step("look again");
    const last = await third.step("look once more");
    expect(last.data).toMatchObject({ done: true, observation: { truncated: true } });
    third.cut();
    // The lost message may be the answer to the last step.
    const fourth = await connect(name);
    expect(await fourth.reset({ episode_id: id })).toEqual(last);
    fourth.close();
    expect((await read(id)).steps.map(({ action }) => action)).toEqual([
      "look",
      "look again",
      "look once more",
    ]);
  });

  test("another process goes on with an episode, another account does not", async () => {
    echo(upstream);
    const name = await environment();
    const socket = await connect(name);
    const id = episodeOf(await socket.reset());
    const first = await socket.step("look");
    socket.cut();
    const stranger = { "x-api-key": await keyOfAnotherAccount(presage.databaseUrl) };
    const foreign = await openEnvSocket(presage.url, "sandbox", stranger);
    const begun = await foreign.reset({ episode_id: id });
    expect(episodeOf(begun)).not.toBe(id);
    expect(JSON.stringify(begun)).not.toContain("lamp is off");
    foreign.close();
    const second = await startPresage({
      PRESAGE_DATABASE_URL: presage.databaseUrl,
      PRESAGE_UPSTREAM_URL: upstream.url,
    });
    const other = await openEnvSocket(second.url, name);
    expect(await other.reset({ episode_id: id })).toEqual(first);
    expect((await other.step("look again")).data).toMatchObject({ observation: { metadata: { step: 2 } } });
    other.close();
    await second.stop();
    const back = await connect(name);
    await back.reset({ episode_id: id });
    expect((await back.step("look once more")).data).toMatchObject({
      observation: { metadata: { step: 3 } },
    });
    back.close();
  });

  test("two sockets that step one episode at the same time take one step, and one learns of it", async () => {
    const held = Promise.withResolvers<void>();
    upstream.answer = async () => {
      await held.promise;
      return Response.json(completion("seen"));
    };
    const name = await environment();
    const [one, two] = [await connect(name), await connect(name)];
    const id = episodeOf(await one.reset());
    await two.reset({ episode_id: id });
    const asked = upstream.received.length;
    const steps = Promise.all([one.step("left"), two.step("right")]);
    await expectEventually(() => upstream.received.length - asked, 2);
    held.resolve();
    expect((await steps).map(({ type }) => type).sort()).toEqual(["error", "observation"]);
    expect((await read(id)).steps_taken).toBe(1);
    one.close();
    two.close();
  });

  test("a step after one that the socket was not told of is refused until it resets", async () => {
    echo(upstream);
    const name = await environment();
    const [one, two] = [await connect(name), await connect(name)];
    const id = episodeOf(await one.reset());
    await two.reset({ episode_id: id });
    const first = await one.step("look");
    expect(await two.step("look")).toMatchObject({
      type: "error",
      data: { message: expect.stringContaining("reset") },
    });
    expect(await two.reset({ episode_id: id })).toEqual(first);
    expect((await two.step("look again")).data).toMatchObject({ observation: { metadata: { step: 2 } } });
    expect((await read(id)).steps_taken).toBe(2);
    one.close();
    two.close();
  });

  test("a name that is no episode's id begins a new one, which the state has by that name", async () => {
    const socket = await connect(await environment());
    const ids = new Set<string>();
    for (const name of ["run 7, rollout 3", "run 7, rollout 3", crypto.randomUUID()]) {
      ids.add(episodeOf(await socket.reset({ episode_id: name })));
      expect((await socket.ask({ type: "state" })).data).toMatchObject({ episode_id: name, step_count: 0 });
    }
    expect(ids.size).toBe(3);
    socket.close();
  });

  test("such a name may have any character", async () => {
    const socket = await connect(await environment());
    for (const name of ["\u0000", "\ud800", "' or 1=1 --", "00000000-0000-0000-0000-000000000000"]) {
      const { type } = await socket.reset({ episode_id: name });
      expect([name, type]).toEqual([name, "observation"]);
    }
    socket.close();
  });

  test("an expired episode, and one of another environment, are not continued", async () => {
    const [name, other] = [await environment(), await environment()];
    const socket = await connect(name);
    const id = episodeOf(await socket.reset());
    const elsewhere = await connect(other);
    expect((await elsewhere.reset({ episode_id: id })).data).toMatchObject({
      code: "EXECUTION_ERROR",
      message: `The episode belongs to the environment ${name}.`,
    });
    await using store = await openStore(presage.databaseUrl);
    await store.database.updateTable("episodes").set({ last_active_at: 1 }).where("id", "=", id).execute();
    expect((await socket.reset({ episode_id: id })).data).toMatchObject({
      code: "EXECUTION_ERROR",
      message: expect.stringContaining("has expired"),
    });
    expect((await socket.step("look")).data).toMatchObject({ code: "EXECUTION_ERROR" });
    socket.close();
    elsewhere.close();
  });

  test("a failed prediction is an error and never an observation, and the step can be sent again", async () => {
    const socket = await connect(await environment());
    const id = episodeOf(await socket.reset());
    upstream.answer = () => new Response("no", { status: 500 });
    expect(await socket.step("look")).toMatchObject({ type: "error", data: { code: "EXECUTION_ERROR" } });
    expect((await socket.ask({ type: "state" })).data).toMatchObject({ step_count: 0, failed_steps: 1 });
    echo(upstream);
    expect((await socket.step("look")).data).toMatchObject({ observation: { metadata: { step: 1 } } });
    expect((await read(id)).steps.length).toBe(1);
    socket.close();
  });

  test("what OpenEnv's tools ask for", async () => {
    const name = await environment({ description: "A room with a lamp." });
    const get = async (path: string) => (await presage.call("GET", `${openEnvPath(name)}/${path}`)).json();
    expect(await get("health")).toEqual({ status: "healthy" });
    expect(await get("metadata")).toEqual({ name, description: "A room with a lamp.", version: "1" });
    expect(await get("schema")).toMatchObject({
      action: {
        type: "object",
        title: "MessageAction",
        required: ["message"],
        additionalProperties: false,
      },
      observation: { properties: { prompt: { type: "string" }, truncated: { type: "boolean" } } },
      state: { properties: { episode_id: {}, step_count: {} } },
    });
    expect(await get("openapi.json")).toMatchObject({
      info: { version: "1.0.0" },
      paths: { "/schema": {}, "/metadata": {}, "/health": {} },
    });
    const mcp = await presage.call("POST", `${openEnvPath(name)}/mcp`, {});
    expect([mcp.status, await mcp.json()]).toMatchObject([200, { jsonrpc: "2.0", id: null, error: {} }]);
    for (const id of [0, "a"]) {
      const answer = await presage.call("POST", `${openEnvPath(name)}/mcp`, { id, method: "initialize" });
      expect(await answer.json()).toMatchObject({ id, error: { code: -32601 } });
    }
    for (const path of ["schema", "health", "metadata", "openapi.json", "ws"]) {
      const response = await presage.call("GET", `${openEnvPath("no-such")}/${path}`);
      expect([path, response.status]).toEqual([path, 404]);
    }
    const noUpgrade = await presage.call("GET", `${openEnvPath(name)}/ws`);
    expect(noUpgrade.status).toBe(400);
  });

  test("steps are counted in usage and in metrics", async () => {
    echo(upstream);
    const { key, id } = await apiKeyClient(() => presage).create("of OpenEnv");
    const socket = await openEnvSocket(presage.url, await environment(), { "x-api-key": key });
    await socket.reset();
    await socket.step("look");
    await socket.ask("{");
    const countUsage = async () => {
      const response = await presage.call("GET", `/v1/usage?api_key_id=${id}`);
      const { data } = (await response.json()) as { data: { operation: string; requests: number }[] };
      return data.reduce((sum, row) => sum + row.requests, 0);
    };
    await expectEventually(countUsage, 1);
    const metrics = await (await fetch(`${presage.url}/metrics`)).text();
    expect(metrics).toMatch(/presage_openenv_messages_total\{type="step",outcome="ok"\} [1-9]/);
    expect(metrics).toMatch(/presage_openenv_messages_total\{type="other",outcome="invalid_json"\} [1-9]/);
    expect(metrics).toMatch(/presage_openenv_sockets [1-9]/);
    socket.close();
  });
});
