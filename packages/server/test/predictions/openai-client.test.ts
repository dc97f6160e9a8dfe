import { afterAll, beforeEach, expect, test } from "bun:test";
import OpenAI from "openai";
import { startPresage, testKey } from "../support/presage/presage.ts";
import { completion, startUpstream } from "../support/upstream/upstream.ts";

const upstream = startUpstream();
const presage = await startPresage({ PRESAGE_UPSTREAM_URL: upstream.url, PRESAGE_UPSTREAM_RETRIES: "0" });
const client = new OpenAI({ baseURL: `${presage.url}/v1`, apiKey: testKey, maxRetries: 0 });
const request = { model: "test-model", messages: [{ role: "user" as const, content: "Hello." }] };

beforeEach(() => {
  upstream.answer = () => Response.json(completion("Hi."));
});
afterAll(async () => {
  await presage.stop();
  await upstream.stop();
});

async function errorOf(call: PromiseLike<unknown>): Promise<unknown> {
  try {
    await call;
  } catch (error) {
    return error;
  }
  throw new Error("The call did not fail.");
}

function upstreamFails(status: number, headers: Record<string, string> = {}): void {
  upstream.answer = () => Response.json({ error: { message: "no" } }, { status, headers });
}

test("it completes a chat", async () => {
  const answer = await client.chat.completions.create(request);
  expect(answer.choices[0]?.message.content).toBe("Hi.");
  expect(answer.usage?.total_tokens).toBe(18);
});

test("it lists the models", async () => {
  const models = await client.models.list();
  expect(models.data.map(({ id }) => id)).toEqual(["test-model"]);
});

test("it throws the right error classes", async () => {
  const create = () => client.chat.completions.create(request);
  upstreamFails(429, { "retry-after": "7" });
  const limited = await errorOf(create());
  expect(limited).toBeInstanceOf(OpenAI.RateLimitError);
  expect((limited as InstanceType<typeof OpenAI.RateLimitError>).headers?.get("retry-after")).toBe("7");
  for (const status of [500, 503, 504]) {
    upstreamFails(status);
    expect(await errorOf(create())).toBeInstanceOf(OpenAI.InternalServerError);
  }
  const stranger = new OpenAI({ baseURL: `${presage.url}/v1`, apiKey: "wrong", maxRetries: 0 });
  expect(await errorOf(stranger.models.list())).toBeInstanceOf(OpenAI.AuthenticationError);
  expect(await errorOf(client.chat.completions.create({ ...request, stream: true }))).toBeInstanceOf(
    OpenAI.BadRequestError,
  );
  expect(await errorOf(client.chat.completions.create({ ...request, max_tokens: -1 }))).toBeInstanceOf(
    OpenAI.UnprocessableEntityError,
  );
});

test("its retries succeed with an upstream that recovers", async () => {
  let calls = 0;
  upstream.answer = () => {
    calls += 1;
    return calls === 1 ? new Response("busy", { status: 503 }) : Response.json(completion("Hi."));
  };
  const retrying = new OpenAI({ baseURL: `${presage.url}/v1`, apiKey: testKey, maxRetries: 2 });
  expect((await retrying.chat.completions.create(request)).choices[0]?.message.content).toBe("Hi.");
});
