import { beforeEach, expect, test } from "bun:test";
import {
  ApiKeyCreateResponse,
  StoredPredictionDetail,
  StoredPredictionListResponse,
} from "@presage/contract";
import { eventually, expectEventually } from "../support/eventually.ts";
import { startPresage, type TestPresage, testKey } from "../support/presage/presage.ts";
import { readMetric } from "../support/presage/read-metric.ts";
import { usePresage } from "../support/presage/use-presage.ts";
import { sessionOf, signInLocally } from "../support/sign-in/session.ts";
import { onAnyDatabase } from "../support/store/databases.ts";
import { openStore } from "../support/store/open-store.ts";
import { completion } from "../support/upstream/upstream.ts";
import { useUpstream } from "../support/upstream/use-upstream.ts";

const interaction = { state: "A closed door.", action: "open the door" };
const context = { environment_state: "A house with a door.", task_context: null };

onAnyDatabase((database) => {
  const upstream = useUpstream();
  const presage = usePresage({
    database,
    PRESAGE_UPSTREAM_URL: upstream.url,
    PRESAGE_UPSTREAM_RETRIES: "0",
    PRESAGE_CACHE: "deterministic",
    PRESAGE_CAPTURE: "all",
  });
  beforeEach(() => {
    upstream.answer = () => Response.json(completion("The door is open."));
  });

  /** Makes a request and returns the id that its prediction is stored under. */
  async function ask(path: string, body: unknown, key = testKey): Promise<string> {
    const response = await presage.call("POST", path, body, { "x-api-key": key });
    await response.text();
    return response.headers.get("x-request-id") ?? "";
  }

  async function list(query = "", of: TestPresage = presage) {
    const response = await of.call("GET", `/v1/predictions${query}`);
    expect(response.status).toBe(200);
    return StoredPredictionListResponse.parse(await response.json());
  }

  /** The prediction of a request, once it is stored. */
  async function kept(requestId: string): Promise<StoredPredictionDetail> {
    const found = await eventually(
      async () => (await list()).data.find(({ request_id }) => request_id === requestId),
      (one) => one !== undefined,
    );
    const response = await presage.call("GET", `/v1/predictions/${found?.id}`);
    const body = await response.json();
    expect(body).toMatchObject({ ...found });
    return StoredPredictionDetail.parse(body);
  }

  async function keyWith(capture: string | null) {
    const made = await presage.call("POST", "/v1/api-keys", { name: "captured", capture });
    return ApiKeyCreateResponse.parse(await made.json());
  }

  test("A prediction is kept with what was asked and answered", async () => {
    upstream.answer = () =>
      Response.json(completion("<think>Hinges.</think>The door is open.", { model: "org/world-model" }));
    const { key, id, name } = await keyWith(null);
    const startedAtMs = Date.now();
    const requestId = await ask("/v1/predict", { context, interaction, params: { temperature: 0.5 } }, key);
    const found = await kept(requestId);
    expect(found).toStrictEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      source: "live",
      created_at: expect.any(String),
      run_id: null,
      run_name: null,
      position: null,
      repeat: null,
      status: "success",
      error_category: null,
      deployment: "default",
      model: "org/world-model",
      replica: expect.stringContaining("http://127."),
      finish_reason: "stop",
      prompt_tokens: 11,
      cached_tokens: 0,
      completion_tokens: 7,
      latency_ms: expect.any(Number),
      score: null,
      confidence: null,
      api_key_id: id,
      api_key_name: name,
      request_id: requestId,
      context,
      interaction,
      messages: null,
      params: { temperature: 0.5 },
      requested_model: null,
      output: "The door is open.",
      reasoning: "Hinges.",
      world: null,
      error_message: null,
      expected: null,
      verdicts: [],
      made_by: name,
      cost: null,
    });
    expect(Date.parse(found.created_at)).toBeWithin(startedAtMs - 1, Date.now() + 1);
    expect(found.latency_ms).toBeGreaterThan(0);
    const values = await presage.call("GET", `/v1/predictions/values?request_id=${requestId}`);
    expect(await values.json()).toMatchObject({ api_key_id: [{ value: id, name, count: 1 }] });
  });

  test("A chat is kept, of messages as of an interaction, and long integers keep their digits", async () => {
    const messages = [{ role: "user", content: "Hello?", name: "Ada" }];
    const ofMessages = await kept(
      await ask(
        "/v1/chat/completions",
        '{"model":"some-model","messages":[{"role":"user","content":"Hello?","name":"Ada"}],"seed":9007199254740993}',
      ),
    );
    expect(ofMessages).toMatchObject({ messages, interaction: null, context: null });
    expect(ofMessages).toMatchObject({ requested_model: "some-model", output: "The door is open." });
    const text = await (await presage.call("GET", `/v1/predictions/${ofMessages.id}`)).text();
    expect(text).toContain('"params":{"seed":9007199254740993}');
    const structured = await kept(
      await ask("/v1/chat/completions", { context, interaction, params: { top_p: 1 }, user: "u" }),
    );
    expect(structured).toMatchObject({ messages: null, interaction, context, requested_model: null });
    expect(structured.params).toEqual({ user: "u", top_p: 1 });
  });

  test("A prediction of the dashboard names who asked", async () => {
    const { headers } = await sessionOf(await signInLocally(presage), presage.databaseUrl);
    const asked = await presage.call("POST", "/v1/predict", { interaction }, headers);
    await asked.text();
    const found = await kept(asked.headers.get("x-request-id") ?? "");
    expect(found).toMatchObject({ api_key_id: null, made_by: "Owner" });
    const listed = (await list("?text_limit=10")).data.find(({ id }) => id === found.id);
    expect(listed?.made_by).toBe("Owner");
  });

  test("A failure is kept with its category and what the upstream said", async () => {
    upstream.answer = () => Response.json({ error: { message: "CUDA out of memory." } }, { status: 500 });
    const found = await kept(await ask("/v1/predict", { interaction }));
    expect(found).toMatchObject({
      status: "failed",
      error_category: "upstream",
      deployment: "default",
      model: null,
      replica: null,
      output: null,
      interaction,
      prompt_tokens: 0,
    });
    expect(found.error_message).toContain("CUDA out of memory.");
  });

  test("A prediction from the cache is kept too, with its tokens counted apart", async () => {
    const asked = { interaction: { ...interaction, action: "kick it" }, params: { temperature: 0 } };
    await ask("/v1/predict", asked);
    expect(await kept(await ask("/v1/predict", asked))).toMatchObject({
      output: "The door is open.",
      replica: null,
      prompt_tokens: 0,
      completion_tokens: 0,
      cached_tokens: 18,
    });
  });

  test("Texts that no store accepts are made storable, and those that are asked return unchanged", async () => {
    upstream.answer = () =>
      new Response(
        '{"model":"m\\u0000","choices":[{"message":{"content":"a\\u0000b\\ud83d","reasoning_content":"r\\u0000"},"finish_reason":"s\\u0000"}]}',
      );
    const odd = { state: "s\0\ud83d", action: "a\0" };
    const found = await kept(
      await ask("/v1/predict", { context: { task_context: "\0\udc00" }, interaction: odd }),
    );
    expect(found).toMatchObject({
      output: "a\ufffdb\ufffd",
      reasoning: "r\ufffd",
      model: "m\ufffd",
      finish_reason: "s\ufffd",
      interaction: odd,
      context: { task_context: "\0\udc00" },
    });
  });

  test("A long output is cut", async () => {
    upstream.answer = () => Response.json(completion("x".repeat(300_000)));
    expect((await kept(await ask("/v1/predict", { interaction }))).output).toBe("x".repeat(262_144));
  });

  test("What is refused before the model is asked is not kept, nor what a client does not wait for", async () => {
    const refused = await ask("/v1/predict", { interaction: {} });
    const gone = crypto.randomUUID();
    const asked = Promise.withResolvers<void>();
    upstream.answer = async () => {
      asked.resolve();
      await Bun.sleep(1_000);
      return Response.json(completion("Too late."));
    };
    const controller = new AbortController();
    const leaving = fetch(`${presage.url}/v1/predict`, {
      method: "POST",
      headers: { "x-api-key": testKey, "x-request-id": gone },
      body: JSON.stringify({ interaction }),
      signal: controller.signal,
    });
    await asked.promise;
    controller.abort();
    await expect(leaving).rejects.toThrow();
    upstream.answer = () => Response.json(completion("The door is open."));
    await kept(await ask("/v1/predict", { interaction }));
    const ids = (await list()).data.map(({ request_id }) => request_id);
    expect(ids).not.toContain(refused);
    expect(ids).not.toContain(gone);
    await expectEventually(() => readMetric(presage, "presage_capture_held_bytes"), 0);
  });

  test("A key's own setting wins, and a change applies to the next request", async () => {
    const { key, id } = await keyWith("off");
    const off = await ask("/v1/predict", { interaction }, key);
    await presage.call("PATCH", `/v1/api-keys/${id}`, { capture: "failures" });
    const succeeded = await ask("/v1/predict", { interaction }, key);
    upstream.answer = () => new Response("busy", { status: 429 });
    const failed = await ask("/v1/predict", { interaction }, key);
    expect(await kept(failed)).toMatchObject({ error_category: "rate_limit", api_key_id: id });
    const ids = (await list(`?api_key_id=${id}`)).data.map(({ request_id }) => request_id);
    expect(ids).toEqual([failed]);
    expect(ids).not.toContain(off);
    expect(ids).not.toContain(succeeded);
  });

  test("A context is stored once for an account, however often it is sent", async () => {
    const often = { environment_state: `A house that is ${crypto.randomUUID()}.` };
    const ids = [];
    for (let at = 0; at < 3; at += 1) ids.push(await ask("/v1/predict", { context: often, interaction }));
    for (const id of ids) expect((await kept(id)).context).toEqual(often);
    await using store = await openStore(presage.databaseUrl);
    const contexts = await store.database.selectFrom("prediction_contexts").selectAll().execute();
    expect(contexts.filter((row) => row.context === JSON.stringify(often))).toHaveLength(1);
  });

  test("Nothing is kept by default, a graceful stop writes what is pending, and the account says what is kept", async () => {
    const databaseUrl = await database.create();
    const environment = { PRESAGE_DATABASE_URL: databaseUrl, PRESAGE_UPSTREAM_URL: upstream.url };
    const usual = await startPresage(environment);
    await (await usual.call("POST", "/v1/predict", { interaction })).text();
    await usual.stop();
    const capturing = await startPresage({
      ...environment,
      PRESAGE_CAPTURE: "1",
      PRESAGE_CAPTURE_MAX_AGE_DAYS: "7",
    });
    // The server and this test share the process, which has at most 256 requests in flight.
    for (let round = 0; round < 3; round += 1) {
      const asked = Array.from({ length: 100 }, () =>
        capturing.call("POST", "/v1/predict", { context, interaction }),
      );
      for (const response of asked) await (await response).text();
    }
    const me = await (await capturing.call("GET", "/v1/me")).json();
    expect(me).toMatchObject({ capture: { setting: "1", max_age_days: 7 } });
    await capturing.stop();
    const after = await startPresage(environment);
    expect((await list("?limit=1000", after)).data).toHaveLength(300);
    await after.stop();
  });
});
