import { beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type {
  SpendingResponse,
  StoredPredictionDetail,
  UsageResponse,
  World,
  WorldModelPrediction,
  WorldPreview,
} from "@presage/contract";
import { sql } from "kysely";
import { warnOfHiddenWorlds } from "../../src/app/compose-runs.ts";
import type { Log } from "../../src/platform/observability/logger.ts";
import { collectExamples, measureIndex } from "../../src/worlds/example-index.ts";
import { fieldsOf } from "../../src/worlds/world.ts";
import { createWorldParts } from "../../src/worlds/world-parts.ts";
import { eventually } from "../support/eventually.ts";
import { startPresage, testKey } from "../support/presage/presage.ts";
import { usePresage } from "../support/presage/use-presage.ts";
import { onAnyDatabase } from "../support/store/databases.ts";
import { openStore } from "../support/store/open-store.ts";
import { completion } from "../support/upstream/upstream.ts";
import { useUpstream } from "../support/upstream/use-upstream.ts";
import { slowTest } from "../support/whole-run.ts";

const upstream = useUpstream();

interface ErrorBody {
  detail: { loc: string[]; msg: string }[];
}

/** A trajectory's word occurs only in its own answers. */
const lines = ["alpha", "beta", "gamma"].flatMap((word, trajectory) =>
  ["lamp", "cup", "box"].map((item, step) => ({
    trajectory_id: `t-${trajectory}`,
    step,
    context: { task_context: "Fill the cart." },
    interaction: { state: `The cart has ${step} things.`, action: `add ${item}` },
    next_state: `Added the ${item}. ${word}`,
    tags: { split: trajectory === 2 ? "validation" : "train", task: `${trajectory % 2}` },
  })),
);
const interaction = { state: "The cart has 1 things.", action: "add plate" };

onAnyDatabase((database) => {
  const presage = usePresage({ database, PRESAGE_UPSTREAM_URL: upstream.url, PRESAGE_CAPTURE: "all" });

  async function post<Body>(path: string, body: unknown, status = 200): Promise<Body> {
    const response = await presage.call("POST", path, body);
    const text = await response.text();
    expect({ path, status: response.status, text }).toEqual({ path, status, text });
    return JSON.parse(text) as Body;
  }
  const create = (body: object, status = 201) => post<World>("/v1/worlds", body, status);
  const retrieval = { kind: "retrieval" };
  let datasetId = "";

  async function upload(name: string, more = lines): Promise<string> {
    const { id } = await post<{ id: string }>("/v1/datasets", { name }, 201);
    const body = more.map((line) => JSON.stringify(line)).join("\n");
    const uploaded = await presage.call("POST", `/v1/datasets/${id}/revisions`, body);
    expect(uploaded.status).toBe(201);
    return id;
  }

  async function setIndexDigest(names: readonly string[], digest: string): Promise<void> {
    await using opened = await openStore(presage.databaseUrl);
    const rows = await opened.database
      .selectFrom("world_revisions")
      .innerJoin("worlds", "worlds.id", "world_revisions.world_id")
      .select(["worlds.id", "pinned"])
      .where("name", "in", names)
      .execute();
    for (const { id, pinned } of rows)
      await opened.database
        .updateTable("world_revisions")
        .set({ pinned: pinned.replace(/"index_digest":"[^"]+"/, `"index_digest":"${digest}"`) })
        .where("world_id", "=", id)
        .execute();
  }

  beforeAll(async () => {
    datasetId = await upload("shop-traces");
    await create({ name: "shop", instructions: "You are a shop.", examples: { dataset: "shop-traces" } });
    await create({ name: "records", examples: { dataset: datasetId }, model: retrieval });
  });
  beforeEach(() => {
    upstream.received.length = 0;
    upstream.answer = () => Response.json(completion("Added."));
  });

  test("a world pins what it names, and a revision never changes", async () => {
    const made = await create({ name: "pinned", examples: { dataset: "shop-traces", split: "train" } });
    expect(made).toMatchObject({ revision: 1, archived: false });
    expect(made.pinned.examples).toMatchObject({
      ...{ dataset_id: datasetId, dataset: "shop-traces", revision: 1 },
      ...{ count: 6, trajectories: 2, actions: 3, features: "bytes3-1" },
    });
    const more = JSON.stringify({ ...lines[0], trajectory_id: "t-9" });
    await presage.call("POST", `/v1/datasets/${datasetId}/revisions?append=true`, more);
    const revise = await presage.call("PATCH", "/v1/worlds/pinned", {
      examples: { dataset: "shop-traces", split: "train" },
    });
    const revised = (await revise.json()) as World;
    expect([revised.revision, revised.pinned.examples?.revision, revised.pinned.examples?.count]).toEqual([
      2, 2, 7,
    ]);
    const first = await presage.call("GET", "/v1/worlds/pinned@1");
    expect((await first.json()) as World).toEqual(made);
    const listed = await presage.call("GET", "/v1/worlds/pinned/revisions");
    const { data } = (await listed.json()) as { data: World[] };
    expect(data.map(({ revision, made_by }) => [revision, made_by])).toEqual([
      [2, expect.any(String)],
      [1, expect.any(String)],
    ]);
    expect((await presage.call("PATCH", "/v1/worlds/pinned", { archived: true })).status).toBe(200);
    const shown = (await (await presage.call("GET", "/v1/worlds")).json()) as { data: World[] };
    expect(shown.data.map(({ name }) => name)).toEqual(["records", "shop"]);
    expect((await presage.call("DELETE", "/v1/worlds/pinned")).status).toBe(204);
    expect((await presage.call("GET", "/v1/worlds/pinned")).status).toBe(404);
  });

  test("a body as the documents have it makes a world, and the revision shows what it resolved to", async () => {
    const reward = { evaluator: "exact-match", profile_name: "system:default", when: "last" };
    const body = {
      ...{ name: "whole", description: "A shop.", instructions: "You are a shop." },
      context: { domain_knowledge: "Carts hold ten things." },
      examples: {
        ...{ dataset: "shop-traces", revision: 1, split: "train", order: "revision" },
        filter: { tags: { task: "0" }, exclude_errors: false, max_per_trajectory: null },
      },
      retrieval: {
        ...{ k: 8, max_chars: 12000, weights: { action: 0.7, state: 0.2, task: 0.1 } },
        ...{ exclude_by: "trajectory", place: "turns", min_similarity: 0 },
      },
      history: { steps: 4, max_chars: 8000 },
      model: { deployment: "default", params: { temperature: 0 } },
      confidence: {
        ...{ methods: ["agreement"], samples: 5, min_confidence: null, below: "abstain" },
        ...{
          escalate_to: "default",
          calibration: { dataset: "shop-traces", revision: 1, split: "calibration" },
        },
      },
      reward,
    };
    const made = await create(body);
    expect(made.config).toMatchObject({
      examples: { order: "revision", tags: { task: "0" }, exclude_errors: false },
      ...{ reward, confidence: body.confidence },
    });
    expect(made.pinned.examples).toMatchObject({ count: 3, order: "revision" });
    expect(await (await presage.call("GET", "/v1/worlds/whole@1")).json()).toEqual(made);
    const none = await create({ name: "unrewarded", reward: null });
    expect(none.config).toEqual({});
    for (const name of ["whole", "unrewarded"])
      expect((await presage.call("DELETE", `/v1/worlds/${name}`)).status).toBe(204);
  });

  test("a name that is used again goes on counting, so that no revision is ever another's", async () => {
    const remove = async () => (await presage.call("DELETE", "/v1/worlds/again")).status;
    const read = async (path: string) => {
      const response = await presage.call("GET", `/v1/worlds/${path}`);
      return { status: response.status, body: (await response.json()) as World & { detail?: string } };
    };
    const first = await create({ name: "again", model: retrieval });
    await presage.call("PATCH", "/v1/worlds/again", { description: "The second." });
    expect([await remove(), await remove()]).toEqual([204, 404]);
    for (const reference of ["again", "again@1", "again/revisions"])
      expect((await read(reference)).status).toBe(404);
    const second = await create({ name: "again", description: "Another.", model: retrieval });
    expect([first.revision, second.revision]).toEqual([1, 3]);
    expect((await read("again")).body).toEqual(second);
    expect(await read("again@2")).toMatchObject({
      status: 404,
      body: { detail: "The world again has no revision 2; the latest is 3." },
    });
    expect((await read("again/revisions")).body).toMatchObject({
      data: [{ ...second, made_by: expect.any(String) }],
    });
    await create({ name: "again", model: retrieval }, 409);
    expect(await remove()).toBe(204);
  });

  test("what is sent is what the preview showed", async () => {
    const body = {
      context: { domain_knowledge: "Carts hold ten things." },
      interaction,
      history: [{ action: "add lamp", next_state: "Added the lamp." }],
      exclude: { trajectory_ids: ["t-0"], tags: { task: "1" } },
    };
    const { messages, explain, answer } = await post<WorldPreview>("/v1/worlds/shop/preview", body);
    expect(upstream.received).toEqual([]);
    expect(messages[0]?.content).toBe("You are a shop.\n\n## DOMAIN KNOWLEDGE\nCarts hold ten things.");
    expect(messages.at(-2)).toEqual({ role: "assistant", content: "Added the lamp." });
    expect(messages.at(-1)?.content).toBe("State: The cart has 1 things.\n\nAction: add plate");
    expect(new Set(explain.examples.map(({ trajectory_id }) => trajectory_id))).toEqual(new Set(["t-2"]));
    expect(explain.left_out).toEqual({ trajectory: 6, duplicate: 0, budget: 0, filter: 0 });
    expect(answer).toStartWith("Added the ");
    await post("/v1/predict", { ...body, world: "shop" });
    expect(upstream.received.map((request) => request.body.messages)).toEqual([messages]);
    expect(upstream.received[0]?.body).toMatchObject({ temperature: 0 });
    // The search for a request that was asked before is not repeated.
    const again = await post<WorldPreview>("/v1/worlds/shop/preview", body);
    expect(again.explain).toEqual({ ...explain, retrieval_ms: 0 });
    expect(explain.retrieval_ms).toBeGreaterThan(0);
  });

  test("a recorded sample is previewed by its id, and what there is not is refused with its place", async () => {
    const sample = { dataset_sample_id: "t-1/1" };
    const { explain, messages } = await post<WorldPreview>("/v1/worlds/records/preview", { sample });
    expect(messages.at(-1)?.content).toBe("State: The cart has 1 things.\n\nAction: add cup");
    expect(new Set(explain.examples.map(({ trajectory_id }) => trajectory_id))).toEqual(
      new Set(["t-0", "t-2"]),
    );
    for (const [body, place, msg] of [
      [{ sample: { ...sample, dataset: "none" } }, "dataset", "There is no such dataset"],
      [{ sample: { ...sample, revision: 9 } }, "revision", "The dataset has no such revision"],
      [{ sample: { dataset_sample_id: "t" } }, "dataset_sample_id", "The revision has no such sample"],
    ] as const)
      expect((await post<ErrorBody>("/v1/worlds/records/preview", body, 422)).detail).toMatchObject([
        { loc: ["body", "sample", place], msg: `Value error, ${msg}` },
      ]);
    for (const body of [{}, { sample, interaction }])
      expect((await post<ErrorBody>("/v1/worlds/records/preview", body, 422)).detail).toMatchObject([
        { loc: ["body"], msg: "Value error, Give either interaction or sample" },
      ]);
  });

  test("the answer says which world, and why if it is asked", async () => {
    const response = await presage.call("POST", "/v1/predict", { interaction, world: "shop", explain: true });
    expect(response.headers.get("x-presage-world")).toBe("shop@1");
    const answer = (await response.json()) as WorldModelPrediction;
    expect(answer.world).toEqual({ name: "shop", revision: 1, answered_by: "default" });
    expect(answer.explain?.examples).toHaveLength(8);
    expect(answer.explain?.examples[0]).toMatchObject({ similarity: expect.any(Number) });
    // The upstream counts 11 tokens of the whole prompt, which is the system turn, 8 pairs and the question.
    const messages = upstream.received[0]?.body.messages as { content: string }[];
    const lengths = messages.map(({ content }) => content.length);
    const sum = (some: readonly number[]) => some.reduce((all, one) => all + one, 0);
    expect(answer.explain?.prompt_tokens_of_examples).toBe(
      Math.round((11 * sum(lengths.slice(1, -1))) / sum(lengths)),
    );
    expect(answer.explain?.cost_of_examples).toBeNull();
    const requestId = response.headers.get("x-request-id");
    const found = await eventually(
      async () => {
        const list = await presage.call("GET", `/v1/predictions?request_id=${requestId}`);
        return ((await list.json()) as { data: { id: string }[] }).data;
      },
      (data) => data.length === 1,
    );
    const stored = await presage.call("GET", `/v1/predictions/${found[0]?.id}`);
    const { world } = (await stored.json()) as StoredPredictionDetail;
    expect(world).toMatchObject({ name: "shop", revision: 1, answered_by: "default" });
    expect(world?.examples).toEqual(
      (answer.explain?.examples ?? []).map(({ dataset_sample_id, trajectory_id, similarity }) => ({
        ...{ dataset_sample_id, trajectory_id, similarity },
      })),
    );
  });

  test("tokens of examples are counted apart in the usage, of requests, of runs and of reality checks", async () => {
    const counted = async (operation: string) => {
      const { data } = (await (await presage.call("GET", "/v1/usage")).json()) as UsageResponse;
      const rows = data.filter((row) => row.operation === operation);
      return rows.reduce((sum, row) => sum + row.example_tokens, 0);
    };
    const [chats, predicted] = [await counted("chat"), await counted("predict")];
    const asked = { interaction, world: "shop", explain: true };
    const { explain } = await post<WorldModelPrediction>("/v1/predict", asked);
    const tokens = explain?.prompt_tokens_of_examples ?? 0;
    expect(tokens).toBeGreaterThan(0);
    await post("/v1/chat/completions", { messages: [{ role: "user", content: "add lamp" }] });
    await post("/v1/predict", { interaction, world: "records" });
    await eventually(
      () => counted("predict"),
      // Tokens of earlier tests may be counted late.
      (sum) => sum >= predicted + tokens,
    );
    expect(await counted("chat")).toBe(chats);
    const people = (await (await presage.call("GET", "/v1/usage/people")).json()) as SpendingResponse;
    expect(people.total.example_tokens).toBe(people.people.reduce((sum, one) => sum + one.example_tokens, 0));
    expect(people.total.example_tokens).toBeGreaterThanOrEqual(tokens);
    const run = {
      ...{ dataset_id: datasetId, revision: 1, target: { world: "shop" } },
      evaluators: [{ evaluator: "exact-match" }],
    };
    const untilStatus = async (path: string, wanted: string) =>
      await eventually(
        async () => ((await (await presage.call("GET", path)).json()) as { status: string }).status,
        (status) => status === wanted,
      );
    const { id } = await post<{ id: string }>("/v1/runs", run, 201);
    await untilStatus(`/v1/runs/${id}`, "finished");
    await eventually(
      () => counted("run"),
      (sum) => sum > 0,
    );
    const ofRun = await counted("run");
    const stop = [{ output_contains: "won", outcome: "success" }];
    await post("/v1/environments", { name: "checked", world: "shop", stop }, 201);
    const body = { environment: "checked", dataset_id: datasetId };
    const check = await post<{ id: string }>("/v1/reality-checks", body, 201);
    // Until then the run calls the upstream, whose requests later tests look at.
    await untilStatus(`/v1/reality-checks/${check.id}`, "completed");
    await eventually(
      () => counted("run"),
      (sum) => sum > ofRun,
    );
  });

  test("the records alone answer without a model, and adapt what differs", async () => {
    const asked = { interaction: { ...interaction, action: "add vase" } };
    const { response, usage, world } = await post<WorldModelPrediction>("/v1/predict", {
      ...asked,
      world: "records",
    });
    expect(response.content).toMatch(/^Added the vase\. (alpha|beta|gamma)$/);
    expect(usage).toEqual({ prompt_tokens: 0, completion_tokens: 0 });
    expect(world?.answered_by).toBe("retrieval");
    const model = { kind: "retrieval", answer: "nearest" };
    await create({ name: "nearest", examples: { dataset: "shop-traces" }, model });
    const nearest = await post<WorldModelPrediction>("/v1/predict", { ...asked, world: "nearest" });
    expect(nearest.response.content).toMatch(/^Added the (lamp|cup|box)\. /);
    await create({ name: "empty", model: retrieval });
    const same = await post<WorldModelPrediction>("/v1/predict", { ...asked, world: "empty" });
    expect(same.response.content).toBe(interaction.state);
    expect(upstream.received).toEqual([]);
  });

  test("a chat goes through a world by header or model; its system turn is joined", async () => {
    const messages = [
      { role: "system", content: "Be brief." },
      { role: "user", content: "add lamp" },
    ];
    for (const [model, headers] of [
      ["shop@1", {}],
      ["gpt-9", { "x-presage-world": "shop" }],
    ] as const) {
      upstream.received.length = 0;
      const response = await presage.call(
        "POST",
        "/v1/chat/completions",
        { model, messages },
        { "x-api-key": testKey, ...headers },
      );
      expect([response.status, response.headers.get("x-presage-world")]).toEqual([200, "shop@1"]);
      const sent = upstream.received[0]?.body.messages as { role: string; content: string }[];
      expect(sent[0]?.content).toBe("You are a shop.\n\nBe brief.");
      expect(sent.at(-1)).toEqual({ role: "user", content: "add lamp" });
      expect(sent.length).toBeGreaterThan(2);
    }
    await presage.call("POST", "/v1/chat/completions", { model: "no-world", messages });
    expect(upstream.received.at(-1)?.body.messages).toEqual(messages);
  });

  test("worlds are among the models, and shown by name and revision", async () => {
    const list = (await (await presage.call("GET", "/v1/models")).json()) as { data: { id: string }[] };
    expect(list.data.map(({ id }) => id)).toEqual(expect.arrayContaining(["shop", "records", "test-model"]));
    const shown = await presage.call("GET", "/v1/models/shop@1");
    expect(await shown.json()).toMatchObject({ id: "shop@1", owned_by: "presage" });
  });

  test("what a world of records would ignore of a chat is refused", async () => {
    const messages = [{ role: "user", content: "add lamp" }];
    const refused = await post<{ error: object }>(
      "/v1/chat/completions",
      { model: "records", messages, n: 3 },
      400,
    );
    expect(JSON.stringify(refused)).toContain("it has no `n` above 1");
    await post("/v1/chat/completions", { model: "shop", messages, n: 3 });
  });

  test("pages of more than 64 MB are refused with the way out, and models are named all the same", async () => {
    const folder = await mkdtemp(join(tmpdir(), "presage-worlds-"));
    const databaseUrl = `sqlite:${join(folder, "presage.db")}`;
    const large = await startPresage({ PRESAGE_DATABASE_URL: databaseUrl });
    await large.call("POST", "/v1/worlds", { name: "large" });
    await using opened = await openStore(databaseUrl);
    const { database: rows } = opened;
    const world = await rows.selectFrom("worlds").selectAll().executeTakeFirstOrThrow();
    const revision = await rows.selectFrom("world_revisions").selectAll().executeTakeFirstOrThrow();
    // Made by SQLite: what crosses threads takes seconds.
    const config = sql<string>`'{"description":"' || hex(zeroblob(11000000)) || '"}'`;
    for (const number of [2, 3, 4])
      await rows
        .insertInto("world_revisions")
        .values({ ...revision, revision: number, config })
        .execute();
    const refusedOf = async (path: string) => {
      const refused = await large.call("GET", `${path}?limit=1000`);
      expect([refused.status, await refused.text()]).toEqual([413, expect.stringMatching(/the limit is 64/)]);
    };
    await refusedOf("/v1/worlds/large/revisions");
    const one = await large.call("GET", "/v1/worlds/large/revisions?limit=1");
    expect((await one.text()).length).toBeGreaterThan(22_000_000);
    for (const number of [2, 3, 4]) {
      const other = { ...world, id: Bun.randomUUIDv7(), name: `large-${number}`, last_revision: number };
      await rows.insertInto("worlds").values(other).execute();
      const moved = rows.updateTable("world_revisions").set({ world_id: other.id });
      await moved.where("revision", "=", number).execute();
    }
    await refusedOf("/v1/worlds");
    const { data } = (await (await large.call("GET", "/v1/models")).json()) as { data: object[] };
    expect(data.length).toBeGreaterThan(3);
    await large.stop();
    await rm(folder, { recursive: true });
  });

  test("an overlong prompt is sent once more with half of the examples", async () => {
    const sizes: number[] = [];
    upstream.answer = ({ body }) => {
      sizes.push((body.messages as unknown[]).length);
      if (sizes.length > 1) return Response.json(completion("Added."));
      const message = "This model's maximum context length is 512 tokens.";
      return Response.json({ message }, { status: 400 });
    };
    const asked = { interaction, world: "shop", explain: true };
    const { explain } = await post<WorldModelPrediction>("/v1/predict", asked);
    expect(sizes).toEqual([18, 10]);
    expect([explain?.reduced, explain?.examples.length]).toEqual([true, 4]);
    upstream.answer = () => {
      sizes.push(0);
      return Response.json({ message: "This model's maximum context length is 8 tokens." }, { status: 400 });
    };
    const refused = await post<object>("/v1/predict", asked, 413);
    expect([refused, sizes.length]).toEqual([
      expect.objectContaining({ category: "context_exceeded", upstream_status: 400 }),
      4,
    ]);
  });

  test("a world with a fallback says who answered where its deployment cannot be reached", async () => {
    const examples = { dataset: "shop-traces" };
    await create({ name: "safe", examples, model: { fallback: "retrieval" } });
    upstream.answer = () => new Response("busy", { status: 503 });
    const answer = await post<WorldModelPrediction>("/v1/predict", { interaction, world: "safe" });
    expect(answer.world?.answered_by).toBe("retrieval");
    const failed = await presage.call("POST", "/v1/predict", { interaction, world: "shop" });
    expect(failed.status).toBe(503);
  });

  test("samples of the test side are examples only of a world that names it", async () => {
    await upload(
      "tested",
      lines.map((line) => ({ ...line, tags: { split: "test", task: "0" } })),
    );
    const none = await presage.call("POST", "/v1/worlds", {
      name: "honest",
      examples: { dataset: "tested" },
    });
    expect([none.status, await none.text()]).toEqual([422, expect.stringContaining("No sample")]);
    const named = await create({ name: "peeking", examples: { dataset: "tested", split: "test" } });
    expect(named.pinned.examples?.count).toBe(9);
  });

  test("what a chat sets beside its messages is sent on, over what the world sets", async () => {
    const model = { params: { temperature: 0.3, max_tokens: 9 } };
    await create({ name: "warm", examples: { dataset: "shop-traces" }, model });
    const chat = {
      model: "warm",
      messages: [{ role: "user", content: "add lamp" }],
      max_tokens: 20,
      stop: ["."],
    };
    const response = await presage.call("POST", "/v1/chat/completions", chat, {
      ...{ "x-api-key": testKey, "x-session-id": "s-1" },
    });
    expect(response.status).toBe(200);
    const [sent] = upstream.received;
    expect(sent?.body).toMatchObject({ temperature: 0.3, max_tokens: 20, stop: ["."] });
    expect(sent?.headers.get("x-session-id")).toBe("s-1");
  });

  test("place: system shows the examples in a section of the system turn", async () => {
    const retrievalOf = { place: "system", k: 1 };
    await create({ name: "inside", examples: { dataset: "shop-traces" }, retrieval: retrievalOf });
    const { messages } = await post<WorldPreview>("/v1/worlds/inside/preview", { interaction });
    expect(messages.map(({ role }) => role)).toEqual(["system", "user"]);
    expect(messages[0]?.content).toContain("## RECORDED EXAMPLES\nState: The cart has 1 things.");
  });

  test("the start says which worlds a deployment of their name hides", async () => {
    await using opened = await openStore(presage.databaseUrl);
    const said: unknown[] = [];
    const logger = { warn: (fields: unknown) => said.push(fields) } as unknown as Log["logger"];
    const warn = (...names: string[]) =>
      warnOfHiddenWorlds(opened, { all: () => names.map((name) => ({ name })) as never }, { logger });
    await warn("default");
    await warn("default", "shop");
    expect(said).toEqual([{ worlds: ["shop"] }]);
  });

  test("once the dataset is deleted the world says so, or answers without, as it was told", async () => {
    await upload("short-lived");
    const of = (required: boolean) => ({ dataset: "short-lived", required });
    await create({ name: "strict", examples: of(true), model: retrieval });
    await create({ name: "lenient", examples: of(false), model: retrieval });
    for (const world of ["strict", "lenient"]) await post("/v1/predict", { interaction, world });
    const other = await startPresage({ PRESAGE_DATABASE_URL: presage.databaseUrl });
    const ask = async () =>
      (await other.call("POST", "/v1/predict", { interaction, world: "strict" })).status;
    expect(await ask()).toBe(200);
    const { data } = (await (await presage.call("GET", "/v1/datasets")).json()) as {
      data: { id: string; name: string }[];
    };
    const id = data.find(({ name }) => name === "short-lived")?.id;
    expect((await presage.call("DELETE", `/v1/datasets/${id}`)).status).toBe(204);
    expect(await post("/v1/predict", { interaction, world: "strict" }, 409)).toEqual({
      detail:
        "The dataset with the examples of the world strict is deleted. Revise it with other examples, or with none.",
      category: "examples_gone",
    });
    const chat = { model: "strict", messages: [{ role: "user", content: "add lamp" }] };
    const refused = await post<{ error: object }>("/v1/chat/completions", chat, 409);
    expect(refused.error).toMatchObject({ code: "examples_gone" });
    const lenient = await post<WorldModelPrediction>("/v1/predict", { interaction, world: "lenient" });
    expect(lenient.response.content).toBe(interaction.state);
    // Another process learns of it within a second of its next use, and keeps nothing of the examples.
    await eventually(ask, (status) => status === 409);
    expect((await presage.call("GET", "/v1/models/strict")).status).toBe(200);
    expect(await (await other.call("GET", "/metrics")).text()).toMatch(/^presage_index_bytes 0$/m);
    await other.stop();
  });

  test("examples that nothing asks for any more are forgotten, and accounts take turns", async () => {
    const id = await upload("forgotten");
    await using opened = await openStore(presage.databaseUrl);
    const { revisionId } = await opened.database
      .selectFrom("dataset_revisions")
      .select("id as revisionId")
      .where("dataset_id", "=", id)
      .executeTakeFirstOrThrow();
    const config = {
      ...{ databaseUrl: presage.databaseUrl, worlds: { maxIndexBytes: 100_000_000 } },
      ...{ workers: { count: 1 }, upstream: { timeoutMs: 60_000 } },
    };
    const { indexes } = createWorldParts(opened, config, undefined, 50);
    const ended: string[] = [];
    const describe = async (accountId: string, item: string, signal?: AbortSignal) => {
      const filter = { tags: { split: item } };
      await indexes
        .describe({ accountId, revisionId, filter }, signal)
        .catch(() => ended.push(`not ${item}`));
      ended.push(`${accountId} ${item}`);
    };
    const leaving = new AbortController();
    const all = [
      describe("a", "train"),
      describe("a", "validation", leaving.signal),
      describe("a", "none"),
      describe("b", "train-too"),
    ];
    leaving.abort();
    await Promise.all(all);
    expect(ended).toEqual(["not validation", "a validation", "a train", "b train-too", "a none"]);
    expect(indexes.bytes()).toBeGreaterThan(0);
    await presage.call("DELETE", `/v1/datasets/${id}`);
    await eventually(
      () => indexes.bytes(),
      (bytes) => bytes === 0,
    );
    await indexes.stop();
  });

  test("examples with a corrected answer of the same length have another digest", async () => {
    const id = await upload("corrected");
    const examples = { dataset: "corrected" };
    const first = await create({ name: "corrected", examples, model: retrieval });
    const corrected = lines.map((line) => ({
      ...line,
      next_state: line.next_state.replace("lamp. alpha", "lamp. aleph"),
    }));
    const body = corrected.map((line) => JSON.stringify(line)).join("\n");
    await presage.call("POST", `/v1/datasets/${id}/revisions`, body);
    const second = await create({ name: "corrected-later", examples, model: retrieval });
    expect(second.pinned.examples?.revision).toBe(2);
    expect(second.pinned.examples?.index_digest).not.toBe(first.pinned.examples?.index_digest);
    const again = await create({
      name: "as-before",
      examples: { ...examples, revision: 1 },
      model: retrieval,
    });
    expect(again.pinned.examples).toEqual(first.pinned.examples);

    // A world from before digests covered the texts is still the same world.
    const collected = collectExamples();
    for (const [index, { trajectory_id: trajectoryId, next_state: nextState, ...line }] of lines.entries())
      collected.add({
        position: index + 1,
        trajectoryId,
        fields: fieldsOf(line),
        nextState,
        tags: line.tags,
      });
    const { digest, formerDigest } = measureIndex(collected.finish());
    expect(first.pinned.examples?.index_digest).toBe(digest);
    await setIndexDigest(["as-before"], formerDigest);
    await post("/v1/predict", { interaction, world: "as-before" });
    const revised = await presage.call("PATCH", "/v1/worlds/as-before", {
      examples: { ...examples, revision: 1, required: false },
    });
    const { pinned } = (await revised.json()) as World;
    expect(pinned.examples?.index_digest).toBe(formerDigest);
  });

  test("a world whose examples come out different refuses, or answers without, as it was told", async () => {
    const examples = { dataset: "shop-traces" };
    await create({ name: "altered", examples, model: retrieval });
    await create({ name: "altered-optional", examples: { ...examples, required: false }, model: retrieval });
    await setIndexDigest(["altered", "altered-optional"], "0");
    const answered = await post<WorldModelPrediction>("/v1/predict", {
      interaction,
      world: "altered-optional",
    });
    expect(answered.response.content).toBe(interaction.state);
    const preview = await post<WorldPreview>("/v1/worlds/altered-optional/preview", { interaction });
    expect(preview.explain.examples).toEqual([]);
    const { detail } = await post<{ detail: string }>("/v1/predict", { interaction, world: "altered" }, 409);
    expect(detail).toStartWith("The examples are not those that the world was made with");
  });

  describe("refuses, and says why", () => {
    const wrongWorlds: [name: string, body: object, place: string, said: string][] = [
      [
        "a dataset that is not",
        { examples: { dataset: "nothing" } },
        "dataset",
        "There is no dataset of this name",
      ],
      [
        "a revision that is not",
        { examples: { dataset: "shop-traces", revision: 99 } },
        "revision",
        "The dataset has no revision 99",
      ],
      [
        "no samples left",
        { examples: { dataset: "shop-traces", split: "none" } },
        "examples",
        "No sample of the dataset is left to be an example",
      ],
      [
        "a seed that cannot be counted up",
        { model: { params: { seed: 1e18 } } },
        "seed",
        "A seed this large cannot be counted up",
      ],
      [
        "a stream, which nothing would read",
        { model: { params: { stream: true } } },
        "stream",
        "Streaming is not supported",
      ],
      [
        "a calibration on what tests it",
        { confidence: { methods: ["stated"], calibration: { dataset: "shop-traces", split: "test" } } },
        "split",
        "A world cannot be calibrated on the samples that test it",
      ],
      [
        "a deployment that is not",
        { model: { deployment: "gone" } },
        "deployment",
        "There is no deployment of this name",
      ],
      [
        "another order",
        { examples: { dataset: "shop-traces", order: "random" } },
        "order",
        "Input should be 'revision'",
      ],
      [
        "a method twice",
        { confidence: { methods: ["stated", "stated"] } },
        "methods",
        "A method should be named once",
      ],
      [
        "a reward of no evaluator",
        { reward: { evaluator: "gone", when: "last" } },
        "evaluator",
        "judge, error-taxonomy",
      ],
      ["k above 64", { retrieval: { k: 65 } }, "k", "Input should be less than or equal to 64"],
      ["k below 0", { retrieval: { k: -1 } }, "k", "Input should be greater than or equal to 0"],
      [
        "more than 200,000 characters",
        { retrieval: { max_chars: 200_001 } },
        "max_chars",
        "Input should be less than or equal to 200000",
      ],
      [
        "a weight below 0",
        { retrieval: { weights: { action: -1, state: 1, task: 1 } } },
        "action",
        "Input should be greater than or equal to 0",
      ],
      [
        "weights that sum to 0",
        { retrieval: { weights: { action: 0, state: 0, task: 0 } } },
        "weights",
        "The weights' sum should be above 0",
      ],
    ];
    test.each(wrongWorlds)("%s", async (_, body, place, said) => {
      const refused = await post<{ detail: { loc: string[]; msg: string }[] }>(
        "/v1/worlds",
        { name: "wrong", ...body },
        422,
      );
      expect(refused.detail[0]?.loc.at(-1)).toBe(place);
      expect(refused.detail[0]?.msg).toEndWith(said);
    });

    const wrongRequests: [
      name: string,
      body: object,
      headers: Record<string, string>,
      status: number,
      said: string,
    ][] = [
      ["an unknown world", { world: "unknown" }, {}, 404, "There is no world unknown."],
      ["an unknown world", {}, { "x-presage-world": "unknown" }, 404, "There is no world unknown."],
      ["an unknown revision", {}, { "x-presage-world": "shop@7" }, 404, "the latest is 1."],
      [
        "an unknown revision",
        { world: "shop@7" },
        {},
        404,
        "The world shop has no revision 7; the latest is 1.",
      ],
      ["two worlds", { world: "shop" }, { "x-presage-world": "records" }, 422, "The header names records"],
      [
        "a deployment beside",
        { world: "shop" },
        { "x-presage-deployment": "default" },
        422,
        "A world has its own deployment; name one of the two",
      ],
      [
        "what only worlds have",
        { history: [{ action: "a", next_state: "b" }] },
        {},
        422,
        "Only a prediction through a world has this",
      ],
      ["what is no name", {}, { "x-presage-world": "Shop!" }, 422, "Input should be the name of a world"],
    ];
    test.each(wrongRequests)("%s", async (_, body, headers, status, said) => {
      const response = await presage.call(
        "POST",
        "/v1/predict",
        { interaction, ...body },
        { "x-api-key": testKey, ...headers },
      );
      expect(response.status).toBe(status);
      expect(await response.text()).toContain(said);
    });

    test("a name that is taken, reserved, or a deployment's", async () => {
      const twice = await presage.call("POST", "/v1/worlds", { name: "shop" });
      const reserved = await presage.call("POST", "/v1/worlds", { name: "runs" });
      const deployment = await presage.call("POST", "/v1/worlds", { name: "default" });
      expect([twice.status, reserved.status, deployment.status]).toEqual([409, 400, 409]);
    });
  });

  test("a key that may only predict is not told which samples the examples are", async () => {
    const made = await post<{ key: string }>("/v1/api-keys", { name: "p", scopes: ["predict"] }, 201);
    const headers = { authorization: `Bearer ${made.key}` };
    const asked = { interaction, world: "records", explain: true };
    const response = await presage.call("POST", "/v1/predict", asked, headers);
    const { explain } = (await response.json()) as WorldModelPrediction;
    expect(explain?.examples.length).toBeGreaterThan(0);
    expect(JSON.stringify(explain)).not.toContain("t-0");
  });
});

test("examples that alone are larger than allowed are refused with the way out", async () => {
  const small = await startPresage({ PRESAGE_INDEX_MAX_BYTES: "1000" });
  const { id } = (await (await small.call("POST", "/v1/datasets", { name: "d" })).json()) as { id: string };
  const body = lines.map((line) => JSON.stringify(line)).join("\n");
  await small.call("POST", `/v1/datasets/${id}/revisions`, body);
  const refused = await small.call("POST", "/v1/worlds", { name: "large", examples: { dataset: "d" } });
  expect(refused.status).toBe(422);
  const said = await refused.text();
  expect(said).toContain("Choose fewer with split, tags or max_per_trajectory");
  expect(said).toContain("PRESAGE_INDEX_MAX_BYTES");
  await small.stop();
});

slowTest(
  "an index that the first request asks for is there for the next one, also if that one leaves",
  async () => {
    const folder = await mkdtemp(join(tmpdir(), "presage-worlds-"));
    const environment = { PRESAGE_DATABASE_URL: `sqlite:${join(folder, "presage.db")}` };
    const many = Array.from({ length: 300 }, (_, copy) =>
      lines.map((line) => ({ ...line, trajectory_id: `${line.trajectory_id}-${copy}` })),
    ).flat();
    const before = await startPresage(environment);
    const { id } = (await (await before.call("POST", "/v1/datasets", { name: "d" })).json()) as {
      id: string;
    };
    await before.call(
      "POST",
      `/v1/datasets/${id}/revisions`,
      many.map((line) => JSON.stringify(line)).join("\n"),
    );
    const model = { kind: "retrieval" };
    await before.call("POST", "/v1/worlds", { name: "cold", examples: { dataset: "d" }, model });
    await before.stop();
    const hasty = await startPresage({ ...environment, PRESAGE_UPSTREAM_TIMEOUT_MS: "1" });
    const late = await hasty.call("POST", "/v1/predict", { interaction, world: "cold" });
    expect([late.status, late.headers.get("retry-after"), await late.json()]).toEqual([
      ...[503, "5"],
      { detail: "The world's examples are not searchable yet.", category: "unavailable" },
    ]);
    await hasty.stop();
    const after = await startPresage(environment);
    const leaving = new AbortController();
    const ask = (signal?: AbortSignal) =>
      fetch(`${after.url}/v1/predict`, {
        ...{
          method: "POST",
          headers: { "x-api-key": testKey },
          body: JSON.stringify({ interaction, world: "cold" }),
        },
        ...(signal && { signal }),
      });
    const first = ask(leaving.signal).catch(() => "left");
    await Bun.sleep(5);
    const second = ask();
    leaving.abort();
    expect([await first, (await second).status]).toEqual(["left", 200]);
    await after.stop();
    await rm(folder, { recursive: true });
  },
);
