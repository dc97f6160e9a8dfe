import { expect, test } from "bun:test";
import { createUpstream } from "../../src/upstream/create-upstream.ts";
import { eventually, expectEventually } from "../support/eventually.ts";
import { startPresage } from "../support/presage/presage.ts";
import { chatRequest, prediction } from "../support/presage/presage-with-raw-upstream.ts";
import { evaluationClient } from "../support/resources/evaluations.ts";
import { upstreamHost } from "../support/upstream/as-replicas.ts";
import { say } from "../support/upstream/judge.ts";
import { completion } from "../support/upstream/upstream.ts";

const minuteMs = 60_000;
const noSignal = new AbortController().signal;
const messages = [{ role: "user", content: "Hello." }];

interface Deployment extends AsyncDisposable {
  url: string;
  /** The models that the deployment serves. */
  ids: string[];
  /** How often its models were listed. */
  lists: number;
  received: { text: string; model: string }[];
  answer(): Response;
  list(): Response | Promise<Response>;
  /** The models of all requests, in order. */
  models(): string[];
}

/** A deployment that answers 404 for models that it does not serve, as vLLM does. */
function startDeployment(...ids: string[]): Deployment {
  const server = Bun.serve({
    hostname: upstreamHost,
    port: 0,
    async fetch(request): Promise<Response> {
      if (new URL(request.url).pathname === "/v1/models") {
        deployment.lists += 1;
        return await deployment.list();
      }
      const text = await request.text();
      const model: string = JSON.parse(text).model;
      deployment.received.push({ text, model });
      if (deployment.ids.includes(model)) return deployment.answer();
      return Response.json({ error: { message: `The model \`${model}\` does not exist.` } }, { status: 404 });
    },
  });
  const deployment: Deployment = {
    url: `http://127.0.0.1:${server.port}/v1`,
    ids,
    lists: 0,
    received: [],
    answer: () => Response.json(completion("The door is open.")),
    list: () => Response.json({ data: deployment.ids.map((id) => ({ id })) }),
    models: () => deployment.received.map(({ model }) => model),
    [Symbol.asyncDispose]: () => server.stop(true),
  };
  return deployment;
}

/** An upstream without a configured model, and the clock that it sees. */
function upstreamOf({ url }: { url: string }, options: { model?: string } = {}) {
  const clock = { nowMs: 0 };
  const { complete } = createUpstream({
    name: "default",
    urls: [url],
    apiKey: undefined,
    model: options.model,
    timeoutMs: 10_000,
    retries: 0,
    nowMs: () => clock.nowMs,
  });
  const ask = (request = {}, mayRetry?: () => boolean) =>
    complete({ messages, ...request }, noSignal, { mayRetry });
  return { clock, ask };
}

test("After a 404 a request is sent once more, to the model that replaced the one before, with the same body", async () => {
  await using deployment = startDeployment("old");
  const presage = await startPresage({ PRESAGE_UPSTREAM_URL: deployment.url });
  const seed = '"seed":9007199254740993';
  const chat = JSON.stringify(chatRequest).replace("{", `{${seed},`);
  const long = { ...prediction, context: { domain_knowledge: "é".repeat(200_000) } };
  const calls: [path: string, body: unknown][] = [
    ["/v1/predict", prediction],
    ["/v1/predict", long],
    ["/v1/chat/completions", chat],
  ];
  for (const [index, [path, body]] of calls.entries()) {
    expect((await presage.call("POST", path, body)).status).toBe(200);
    deployment.ids = [`newer "${index}" é`];
    deployment.received.length = 0;
    expect((await presage.call("POST", path, body)).status).toBe(200);
    const [refused, repeated] = deployment.received;
    expect(deployment.received).toHaveLength(2);
    expect(repeated?.model).toBe(`newer "${index}" é`);
    const withoutModel = ({ text = "", model = "" } = {}) => text.replace(JSON.stringify(model), "");
    expect(withoutModel(repeated)).toBe(withoutModel(refused));
  }
  expect(deployment.received.at(-1)?.text).toContain(seed);
  await presage.stop();
});

test("A judge finds the model that replaced its own", async () => {
  await using upstream = startDeployment("predicts");
  await using deployment = startDeployment("old");
  deployment.answer = () => say({ reasoning: "It is short.", verdict: "pass", score: 1 });
  const presage = await startPresage({
    PRESAGE_UPSTREAM_URL: upstream.url,
    PRESAGE_JUDGE_URL: deployment.url,
  });
  const { resultOf } = evaluationClient(() => presage);
  const body = {
    evaluators: [{ evaluator: "judge", profile_name: "system:is-concise" }],
    evaluated_model_output: "Yes.",
  };
  expect((await resultOf(body)).pass).toBe(true);
  deployment.ids = ["new"];
  expect((await resultOf(body)).pass).toBe(true);
  expect(deployment.models()).toEqual(["old", "old", "new"]);
  expect(upstream.received).toEqual([]);
  await presage.stop();
});

test("A 404 is passed on if no other model is served, the list fails, or the caller or the configuration names the model", async () => {
  await using deployment = startDeployment("old");
  const { ask } = upstreamOf(deployment);
  const configured = upstreamOf(deployment, { model: "old" });
  await ask();
  deployment.answer = () => new Response("no such path", { status: 404 });
  await expect(ask()).rejects.toMatchObject({ status: 404, body: "no such path" });
  expect(deployment.models()).toEqual(["old", "old"]);

  const { list } = deployment;
  deployment.list = () => new Response("no", { status: 500 });
  await expect(ask()).rejects.toMatchObject({ status: 404, body: "no such path" });
  deployment.list = list;
  deployment.ids = ["new"];
  await expect(ask({ model: "old" })).rejects.toMatchObject({ status: 404 });
  await expect(configured.ask()).rejects.toMatchObject({ status: 404 });
  await expect(ask({}, () => false)).rejects.toMatchObject({ status: 404 });
  expect(deployment.models()).toEqual(Array(6).fill("old"));
});

test("An upstream that answers 404 to everything is asked for its models once a minute", async () => {
  await using deployment = startDeployment("old");
  const { clock, ask } = upstreamOf(deployment);
  deployment.answer = () => new Response("no such path", { status: 404 });
  for (let request = 0; request < 20; request += 1)
    await expect(ask()).rejects.toMatchObject({ status: 404 });
  expect(deployment.lists).toBe(2);
  clock.nowMs += minuteMs + 1;
  deployment.ids = ["new"];
  deployment.answer = () => Response.json(completion("The door is open."));
  await ask();
  expect(deployment.models().at(-1)).toBe("new");
});

test("Many requests that meet a new model look it up together", async () => {
  await using deployment = startDeployment("old");
  const { ask } = upstreamOf(deployment);
  await ask();
  deployment.ids = ["new"];
  const listed = Promise.withResolvers<void>();
  const { list } = deployment;
  deployment.list = async () => {
    await listed.promise;
    return await list();
  };
  const requests = Array.from({ length: 20 }, () => ask());
  await expectEventually(() => deployment.models().filter((model) => model === "old").length, 21);
  listed.resolve();
  await Promise.all(requests);
  expect(deployment.lists).toBe(2);
  expect(deployment.models().filter((model) => model === "new")).toHaveLength(20);
});

test("A name of over a minute is looked up again, once a minute, while requests go out under the old one", async () => {
  await using deployment = startDeployment("old");
  const { clock, ask } = upstreamOf(deployment);
  await ask();
  clock.nowMs = minuteMs;
  await ask();
  expect(deployment.lists).toBe(1);

  const listed = Promise.withResolvers<Response>();
  deployment.list = () => listed.promise;
  clock.nowMs += 1;
  await ask();
  await ask();
  expect(deployment.models()).toEqual(Array(4).fill("old"));
  deployment.ids = ["old", "new"];
  listed.resolve(Response.json({ data: [{ id: "new" }] }));
  await eventually(
    () => ask(),
    () => deployment.models().at(-1) === "new",
  );
  expect(deployment.lists).toBe(2);
  clock.nowMs += minuteMs;
  await ask();
  expect(deployment.lists).toBe(2);
});

test("A failed look-up keeps the name and is repeated a minute later", async () => {
  await using deployment = startDeployment("old");
  const { clock, ask } = upstreamOf(deployment);
  await ask();
  const { list } = deployment;
  deployment.list = () => new Response("no", { status: 500 });
  clock.nowMs += minuteMs + 1;
  await ask();
  await expectEventually(() => deployment.lists, 2);
  await ask();
  expect(deployment.lists).toBe(2);

  deployment.list = list;
  clock.nowMs += minuteMs + 1;
  await ask();
  await expectEventually(() => deployment.lists, 3);
  expect(new Set(deployment.models())).toEqual(new Set(["old"]));
});

test("A name is kept while it is listed, even if another model is listed before it", async () => {
  await using deployment = startDeployment("first", "second");
  const { clock, ask } = upstreamOf(deployment);
  await ask();
  deployment.ids = ["newest", "second", "first"];
  clock.nowMs += minuteMs + 1;
  await ask();
  await expectEventually(() => deployment.lists, 2);
  await ask();
  expect(deployment.models()).toEqual(Array(3).fill("first"));
});
