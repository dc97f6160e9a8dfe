import { describe, expect, test } from "bun:test";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DeploymentListResponse } from "@presage/contract";
import { eventually } from "../support/eventually.ts";
import { freePort } from "../support/free-port.ts";
import { startPresage, testKey } from "../support/presage/presage.ts";
import { chatRequest, prediction } from "../support/presage/presage-with-raw-upstream.ts";
import { startPresageWithTwoAccounts } from "../support/presage/presage-with-two-accounts.ts";
import { runPresage } from "../support/presage/run-presage.ts";
import { spawnPresage } from "../support/presage/spawn-presage.ts";
import { onAnyDatabase } from "../support/store/databases.ts";
import { passing, say } from "../support/upstream/judge.ts";
import { goodResponse, startRawUpstream } from "../support/upstream/raw-upstream.ts";
import { completion, startUpstream, type TestUpstream } from "../support/upstream/upstream.ts";

/** Two models at two real upstreams, and the file that describes them. */
async function startModels() {
  const directory = await mkdtemp(join(tmpdir(), "presage-deployments-"));
  const file = join(directory, "deployments.yaml");
  const small = startUpstream(() => Response.json(completion("small")));
  const large = startUpstream(() => Response.json(completion("large")));
  const write = (text: string) => writeFile(file, text);
  await write(fileOf(small.url, large.url));
  return {
    file,
    small,
    large,
    write,
    environment: { PRESAGE_DEPLOYMENTS: file, SMALL_KEY: "secret-of-small" },
    async [Symbol.asyncDispose]() {
      await Promise.all([small.stop(), large.stop()]);
      await rm(directory, { recursive: true });
    },
  };
}

function fileOf(small: string, large: string, more = ""): string {
  return `default: small
deployments:
  small: { replicas: [${small}], model: org/small, api_key_env: SMALL_KEY${more} }
  large: { replicas: [${large}], model: org/large }
`;
}

function bodies({ received }: TestUpstream): unknown[] {
  return received.splice(0).map(({ body }) => body.model);
}

const by = (deployment: string) => ({ "x-api-key": testKey, "x-presage-deployment": deployment });

describe("With a file of deployments", () => {
  test("a chat goes to the deployment that its model names, any other model to the default one unchanged", async () => {
    await using models = await startModels();
    const presage = await startPresage(models.environment);
    const chat = (model?: string) => presage.call("POST", "/v1/chat/completions", { ...chatRequest, model });

    const large = await chat("large");
    expect(await large.json()).toMatchObject({ choices: [{ message: { content: "large" } }] });
    expect(large.headers.get("x-presage-deployment")).toBe("large");
    expect([bodies(models.small), bodies(models.large)]).toEqual([[], ["org/large"]]);

    for (const model of [undefined, "small", "org/other"]) {
      expect((await chat(model)).headers.get("x-presage-deployment")).toBe("small");
    }
    expect([bodies(models.small), bodies(models.large)]).toEqual([
      ["org/small", "org/small", "org/other"],
      [],
    ]);
    await presage.stop();
  });

  test("the header names the deployment for both operations, and wins over the model", async () => {
    await using models = await startModels();
    const presage = await startPresage(models.environment);
    const predicted = await presage.call("POST", "/v1/predict", prediction, by("large"));
    expect(predicted.headers.get("x-presage-deployment")).toBe("large");
    const chat = { ...chatRequest, model: "small" };
    expect((await presage.call("POST", "/v1/chat/completions", chat, by("large"))).status).toBe(200);
    expect((await presage.call("POST", "/v1/predict", prediction)).status).toBe(200);
    expect([bodies(models.small), bodies(models.large)]).toEqual([["org/small"], ["org/large", "org/large"]]);
    await presage.stop();
  });

  test("an unknown deployment in the header is 422 at the header, and no upstream is asked", async () => {
    await using models = await startModels();
    const presage = await startPresage(models.environment);
    for (const [path, body] of [
      ["/v1/predict", prediction],
      ["/v1/chat/completions", chatRequest],
    ] as const) {
      const response = await presage.call("POST", path, body, by("huge"));
      expect(response.status).toBe(422);
      expect(await response.json()).toMatchObject({
        detail: [{ type: "value_error", loc: ["header", "x-presage-deployment"], input: "huge" }],
      });
    }
    expect([bodies(models.small), bodies(models.large)]).toEqual([[], []]);
    await presage.stop();
  });

  test("each upstream gets its own key, and no other", async () => {
    await using models = await startModels();
    const presage = await startPresage(models.environment);
    await presage.call("POST", "/v1/predict", prediction, by("small"));
    await presage.call("POST", "/v1/predict", prediction, by("large"));
    expect(models.small.received[0]?.headers.get("authorization")).toBe("Bearer secret-of-small");
    expect(models.large.received[0]?.headers.get("authorization")).toBe(null);
    await presage.stop();
  });

  test("models lists the deployments first, then what the default one lists", async () => {
    await using models = await startModels();
    models.small.models.push({ id: "large", object: "model" });
    const presage = await startPresage(models.environment);
    const { data } = (await (await presage.call("GET", "/v1/models")).json()) as { data: { id: string }[] };
    expect(data.map(({ id }) => id)).toEqual(["small", "large", "test-model"]);
    for (const id of ["large", "test-model"]) {
      expect(await (await presage.call("GET", `/v1/models/${id}`)).json()).toMatchObject({ id });
    }
    expect((await presage.call("GET", "/v1/models/org/large")).status).toBe(404);
    await presage.stop();
  });

  test("judges ask the default deployment for its model", async () => {
    await using models = await startModels();
    models.small.answer = () => say(passing);
    const presage = await startPresage(models.environment);
    const response = await presage.call("POST", "/v1/evaluate", {
      evaluators: [{ evaluator: "judge", profile_name: "system:is-concise" }],
      evaluated_model_input: "open door",
      evaluated_model_output: "The door is open.",
    });
    expect(await response.json()).toMatchObject({ results: [{ status: "success" }] });
    expect([bodies(models.small), bodies(models.large)]).toEqual([["org/small"], []]);
    await presage.stop();
  });
});

describe("A fallback", () => {
  test("answers for its own model once no replica can be asked, and not after a 4xx or a time-out", async () => {
    await using models = await startModels();
    await models.write(fileOf(models.small.url, models.large.url, ", fallback: large, timeout_ms: 2000"));
    const presage = await startPresage(models.environment);
    const chat = () => presage.call("POST", "/v1/chat/completions", { ...chatRequest, model: "org/special" });
    models.small.answer = () => new Response("no", { status: 400 });
    expect((await chat()).status).toBe(502);
    models.small.answer = () => new Promise(() => {});
    expect((await chat()).status).toBe(504);
    expect(bodies(models.large)).toEqual([]);

    models.small.answer = () => new Response("busy", { status: 503 });
    const answer = await chat();
    expect([answer.status, answer.headers.get("x-presage-deployment")]).toEqual([200, "large"]);
    expect(bodies(models.large)).toEqual(["org/large"]);

    models.small.received.length = 0;
    expect((await chat()).headers.get("x-presage-deployment")).toBe("large");
    expect(models.small.received).toEqual([]);
    await presage.stop();
  });

  test.each([
    ["", "model: org/small, "],
    [" whose model is not known", ""],
  ])(
    "answers while all addresses%s refuse connections, and every caller gets an answer",
    async (_, model) => {
      await using models = await startModels();
      const gone = [`http://127.0.0.1:${await freePort()}/v1`, `http://127.0.0.1:${await freePort()}/v1`];
      const file = fileOf(gone.join(", "), models.large.url, ", fallback: large");
      await models.write(file.replace("model: org/small, ", model));
      const presage = await startPresage(models.environment);
      expect((await presage.call("POST", "/v1/predict", prediction)).status).toBe(200);
      const answers = await Promise.all(
        Array.from({ length: 16 }, () => presage.call("POST", "/v1/predict", prediction)),
      );
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
      await presage.stop();
    },
  );
});

test("A fallback is not asked once a response has begun", async () => {
  await using models = await startModels();
  const half = goodResponse.slice(0, goodResponse.indexOf("\r\n\r\n") + 40);
  const raw = await startRawUpstream(({ socket }) => socket.end(half));
  await models.write(fileOf(raw.url, models.large.url, ", fallback: large"));
  const presage = await startPresage(models.environment);
  for (let time = 0; time < 2; time += 1)
    expect((await presage.call("POST", "/v1/predict", prediction)).status).toBe(503);
  expect(bodies(models.large)).toEqual([]);
  await presage.stop();
  await raw.stop();
});

describe("A file", () => {
  test("with issues prevents the start, with a line for each", async () => {
    await using models = await startModels();
    await models.write("default: nobody\ndeployments:\n  a: { replicas: [ftp://a], colour: red }\n");
    const { code, stderr } = await runPresage(["serve"], {
      ...models.environment,
      PRESAGE_PORT: "0",
      PRESAGE_DATABASE_URL: "sqlite::memory:",
    });
    expect(code).toBe(1);
    expect(stderr.trimEnd().split("\n").slice(-2)).toEqual([
      "deployments.yaml:3: deployments.a.replicas.0: expected an http or https URL without a user name, password or query",
      "deployments.yaml:3: deployments.a.colour: unknown key",
    ]);
  }, 300_000);

  test("that is not there prevents the start with one line", async () => {
    const { code, stderr } = await runPresage(["serve"], {
      PRESAGE_DEPLOYMENTS: "/nowhere/deployments.yaml",
      PRESAGE_PORT: "0",
      PRESAGE_DATABASE_URL: "sqlite::memory:",
    });
    expect(code).toBe(1);
    expect(stderr).toContain(
      "PRESAGE_DEPLOYMENTS: the file cannot be read (ENOENT): /nowhere/deployments.yaml",
    );
  }, 300_000);

  test("is read again on SIGHUP; calls in progress end on their old deployment, and a file with issues changes nothing", async () => {
    await using models = await startModels();
    await using presage = await spawnPresage({
      ...models.environment,
      PRESAGE_DATABASE_URL: "sqlite::memory:",
    });
    const answererOf = async () =>
      (await presage.call("POST", "/v1/predict", prediction)).headers.get("x-presage-deployment");
    expect(await answererOf()).toBe("small");

    const release = Promise.withResolvers<void>();
    models.small.answer = async () => {
      await release.promise;
      return Response.json(completion("late"));
    };
    const pending = presage.call("POST", "/v1/predict", prediction);
    await eventually(
      () => models.small.received.length,
      (length) => length === 2,
    );
    await models.write(`default: only\ndeployments:\n  only: { replicas: [${models.large.url}] }\n`);
    presage.kill("SIGHUP");
    expect(await eventually(answererOfSoon(presage), (name) => name === "only")).toBe("only");
    release.resolve();
    expect(await (await pending).json()).toMatchObject({ response: { content: "late" } });

    await models.write("default: [");
    presage.kill("SIGHUP");
    const log = await eventually(presage.stdout, (text) => text.includes("stay as they were"));
    expect(log).toContain("deployments.yaml:1: ");
    expect(await answererOf()).toBe("only");
  }, 300_000);
});

/** Asks with the header that only the new file allows, so that no call waits at the old deployment. */
function answererOfSoon({ call }: { call: Awaited<ReturnType<typeof spawnPresage>>["call"] }) {
  return async () =>
    (await call("POST", "/v1/predict", prediction, by("only"))).headers.get("x-presage-deployment");
}

onAnyDatabase((database) => {
  test("GET /v1/deployments shows each replica to the account default, and to others only names, models and states", async () => {
    await using server = await startPresageWithTwoAccounts(await database.create(), {
      PRESAGE_UPSTREAM_MODEL: "org/model",
    });
    await server.mine("POST", "/v1/predict", prediction);
    const mine = DeploymentListResponse.parse(await (await server.mine("GET", "/v1/deployments")).json());
    const common = {
      ...{ name: "default", model: "org/model", is_default: true, process_id: process.pid },
      ...{ state: "up" as const, error_rate: 0 },
    };
    const [first, ...others] = mine.data[0]?.replicas ?? [];
    expect(mine.data).toEqual([
      { ...common, replicas: [first, ...others].filter((one) => one !== undefined) },
    ]);
    expect(first).toMatchObject({
      url: server.upstream.url,
      state: "up",
      in_flight: 0,
      limit: null,
      ejections: 0,
    });
    const theirs = await (await server.theirs("GET", "/v1/deployments")).json();
    expect(theirs).toEqual({ data: [common] });
  });
});

test("what is shown of a replica has its failures and latencies, and no query", async () => {
  const good = startUpstream();
  const bad = `http://127.0.0.1:${await freePort()}/v1`;
  const presage = await startPresage({
    PRESAGE_UPSTREAM_URL: `${good.url},${bad}`,
    PRESAGE_UPSTREAM_MODEL: "m",
  });
  for (let step = 0; step < 40; step += 1) {
    const headers = { "x-api-key": testKey, "x-session-id": `rollout-${step}` };
    expect((await presage.call("POST", "/v1/predict", prediction, headers)).status).toBe(200);
  }
  const { data } = DeploymentListResponse.parse(await (await presage.call("GET", "/v1/deployments")).json());
  const [up, down] = data[0]?.replicas ?? [];
  expect(up).toMatchObject({ state: "up", last_failure: null, latency_ms: { p50: expect.any(Number) } });
  expect(up?.prefix_share).toBeWithin(0.1, 1);
  expect(down).toMatchObject({
    url: bad,
    state: "ejected",
    ejections: 1,
    last_failure: { category: "unavailable" },
    recent: { calls: 3, failed: 3 },
    latency_ms: null,
    prefix_share: 1,
  });
  const metrics = await (await presage.call("GET", "/metrics")).text();
  expect(metrics).toContain(`presage_replica_up{deployment="default",replica="${good.url}"} 1`);
  expect(metrics).toContain(`presage_replica_up{deployment="default",replica="${bad}"} 0`);
  expect(metrics).toContain(`presage_replica_ejections_total{deployment="default",replica="${bad}"} 1`);
  await presage.stop();
  await good.stop();
});

test("the only replica is never ejected, and is said to fail once all of its calls have", async () => {
  const presage = await startPresage({
    PRESAGE_UPSTREAM_URL: `http://127.0.0.1:${await freePort()}/v1`,
    PRESAGE_UPSTREAM_MODEL: "m",
  });
  const read = async () =>
    DeploymentListResponse.parse(await (await presage.call("GET", "/v1/deployments")).json()).data[0];
  expect((await read())?.replicas).toMatchObject([{ state: "up", is_failing: false }]);
  for (let time = 0; time < 3; time += 1) await presage.call("POST", "/v1/predict", prediction);
  const { state, replicas } = (await read()) ?? {};
  expect({ state, replicas }).toMatchObject({ state: "out", replicas: [{ state: "up", is_failing: true }] });
  await presage.stop();
});
