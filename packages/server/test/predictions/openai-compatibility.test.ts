import { beforeEach, describe, expect, test } from "bun:test";
import { StoredPredictionDetail, StoredPredictionListResponse } from "@presage/contract";
import { eventually } from "../support/eventually.ts";
import { errorBody } from "../support/presage/error-body.ts";
import { testKey } from "../support/presage/presage.ts";
import { usePresage } from "../support/presage/use-presage.ts";
import { completion } from "../support/upstream/upstream.ts";
import { useUpstream } from "../support/upstream/use-upstream.ts";

const upstream = useUpstream();
const presage = usePresage({
  PRESAGE_UPSTREAM_URL: upstream.url,
  PRESAGE_UPSTREAM_RETRIES: "0",
  PRESAGE_CHAT_COMPATIBILITY: "openai",
  PRESAGE_CACHE: "deterministic",
  PRESAGE_CAPTURE: "all",
});
const messages = [{ role: "user", content: "Hello." }];
const path = "/v1/chat/completions";
const toolCall = { id: "call_1", type: "function", function: { name: "look", arguments: '{"at":"door"}' } };

beforeEach(() => {
  upstream.received.length = 0;
  upstream.answer = () => Response.json(completion("Hi."));
});

async function sentFor(body: Record<string, unknown>) {
  const answer = await presage.call("POST", path, body);
  expect([answer.status, await answer.text()]).toEqual([200, JSON.stringify(completion("Hi."))]);
  return upstream.received.at(-1)?.body;
}

async function eventsOf(body: Record<string, unknown>): Promise<unknown[]> {
  const answer = await presage.call("POST", path, { messages, stream: true, ...body });
  expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "text/event-stream"]);
  const events = (await answer.text()).split("\n\n");
  expect(events.splice(-2)).toEqual(["data: [DONE]", ""]);
  return events.map((event) => JSON.parse(event.replace(/^data: /, "")));
}

describe("a message", () => {
  async function sentMessage(message: unknown) {
    return (await sentFor({ messages: [message] }))?.messages[0];
  }

  test("with the role developer is one with the role system", async () => {
    expect(await sentMessage({ role: "developer", content: "Be brief." })).toEqual({
      role: "system",
      content: "Be brief.",
    });
  });

  test("in parts is their texts, each on a line of its own", async () => {
    const parts = ["You are in the hall.", "The door is shut."].map((text) => ({ type: "text", text }));
    for (const role of ["system", "user", "assistant", "tool"]) {
      expect(await sentMessage({ role, content: parts })).toEqual({
        role,
        content: "You are in the hall.\nThe door is shut.",
      });
    }
  });

  test("with a part that is no text is 422 at that part", async () => {
    const image = { type: "image_url", image_url: { url: "data:," } };
    const answer = await presage.call("POST", path, {
      messages: [{ role: "user", content: [{ type: "text", text: "What is this?" }, image] }],
    });
    expect(answer.status).toBe(422);
    const { detail } = (await answer.json()) as { detail: unknown[] };
    expect(detail).toContainEqual(
      expect.objectContaining({
        loc: ["body", "messages", 0, "content", 1, "type"],
        msg: "Input should be 'text'",
      }),
    );
    expect(upstream.received).toHaveLength(0);
  });

  test("of a tool, or that calls one, is forwarded, with its null content and without other nulls", async () => {
    const answered = [
      { role: "assistant", content: null, tool_calls: [toolCall] },
      { role: "assistant", tool_calls: [toolCall] },
      { role: "tool", content: "It is shut.", tool_call_id: "call_1" },
      { role: "function", content: null, name: "look" },
    ];
    const withNulls = answered.map((message) => ({ ...message, refusal: null, audio: null }));
    expect((await sentFor({ messages: withNulls }))?.messages as unknown).toEqual(answered);
  });

  test("without content is 422 where a person, a program or a tool wrote it", async () => {
    for (const role of ["system", "developer", "user", "tool"]) {
      for (const content of [undefined, null]) {
        const answer = await presage.call("POST", path, { messages: [{ role, content }] });
        expect([role, answer.status]).toEqual([role, 422]);
        expect((await errorBody(answer)).detail).toEqual([
          expect.objectContaining({ type: "missing", loc: ["body", "messages", 0, "content"] }),
        ]);
      }
    }
  });
});

test("optional fields that are null count as absent", async () => {
  const nulls = { max_tokens: null, temperature: null, top_p: null, top_k: null, stop: null };
  const sent = await sentFor({ messages, ...nulls, stream: null, stream_options: null, tools: null });
  expect(sent).toEqual({ model: "test-model", messages, max_tokens: 512, temperature: 0.2, top_p: 1 });
  const answer = await presage.call("POST", path, { messages: null });
  expect(answer.status).toBe(422);
  expect((await errorBody(answer)).detail).toEqual([
    expect.objectContaining({ type: "missing", loc: ["body", "messages"] }),
  ]);
});

test("what Presage does not know is forwarded, integers of any length digit for digit", async () => {
  const tools = [{ type: "function", function: { name: "look", parameters: { type: "object" } } }];
  const more = { tools, tool_choice: "auto", parallel_tool_calls: false, n: 2, user: "u", store: false };
  expect(await sentFor({ messages, ...more, max_completion_tokens: 9 })).toEqual({
    ...{ model: "test-model", temperature: 0.2, top_p: 1 },
    ...{ messages, ...more, max_completion_tokens: 9 },
  });
  await presage.call(
    "POST",
    path,
    '{"messages":[{"role":"user","content":"a"}],"seed":12345678901234567890}',
  );
  expect(upstream.received.at(-1)?.text).toContain('"seed":12345678901234567890');
});

test("an interaction is composed into a prompt, streamed or not", async () => {
  const interaction = { state: "You are in the hall.", action: "go north" };
  const composed = [{ role: "user", content: "State: You are in the hall.\n\nAction: go north" }];
  expect((await sentFor({ interaction, messages: null }))?.messages).toEqual(composed);
  await eventsOf({ interaction });
  expect(upstream.received.at(-1)?.body.messages).toEqual(composed);
});

describe("a stream", () => {
  const head = { id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model: "test-model" };

  test("is the finished text, as one chunk", async () => {
    expect(await eventsOf({})).toEqual([
      {
        ...head,
        choices: [{ index: 0, delta: { role: "assistant", content: "Hi." }, finish_reason: "stop" }],
      },
    ]);
    expect(upstream.received.at(-1)?.body).not.toHaveProperty("stream");
  });

  test("ends with the usage if that is asked for and known", async () => {
    const asked = { stream_options: { include_usage: true } };
    const [chunk, usage, ...others] = await eventsOf(asked);
    expect(chunk).toMatchObject({ usage: null });
    expect(usage).toEqual({
      ...head,
      choices: [],
      usage: { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 },
    });
    expect(others).toEqual([]);
    expect(upstream.received.at(-1)?.body).not.toHaveProperty("stream_options");
    upstream.answer = () => Response.json(completion("Hi.", { usage: undefined }));
    expect(await eventsOf(asked)).toHaveLength(1);
  });

  test("numbers its tool calls, and has a chunk for each choice", async () => {
    const calls = [toolCall, { ...toolCall, id: "call_2" }];
    const message = { role: "assistant", content: null, tool_calls: calls };
    const choice = { index: 0, message, logprobs: null, finish_reason: "tool_calls" };
    upstream.answer = () =>
      Response.json(completion("", { choices: [choice, { ...choice, index: 1 }, null] }));
    const delta = { ...message, tool_calls: calls.map((call, index) => ({ index, ...call })) };
    expect(await eventsOf({ n: 2 })).toEqual(
      [0, 1].map((index) => ({
        ...head,
        choices: [{ index, delta, logprobs: null, finish_reason: "tool_calls" }],
      })),
    );
  });

  test("that fails before its first byte has the status and body of its error", async () => {
    const failed = async (body: object, headers?: Record<string, string>) => {
      const answer = await presage.call("POST", path, { stream: true, ...body }, headers);
      return [answer.status, answer.headers.get("content-type")?.split(";")[0]];
    };
    expect(await failed({ messages: [] })).toEqual([422, "application/json"]);
    expect(await failed({ messages }, { "x-api-key": "wrong" })).toEqual([401, "application/json"]);
    for (const [status, expected] of [
      [429, 429],
      [500, 502],
      [503, 503],
    ] as const) {
      upstream.answer = () => Response.json({ error: { message: "no" } }, { status });
      expect(await failed({ messages })).toEqual([expected, "application/json"]);
    }
  });

  test("is cached together with what is not streamed", async () => {
    const body = { messages: [{ role: "user", content: "Once." }], temperature: 0 };
    const chunks = await eventsOf(body);
    for (const _ of [1, 2]) {
      expect(await eventsOf(body)).toEqual(chunks);
      await sentFor(body);
    }
    expect(upstream.received).toHaveLength(1);
  });

  test("is refused within params, which are forwarded", async () => {
    const answer = await presage.call("POST", path, { messages, params: { stream: true } });
    expect([answer.status, await errorBody(answer)]).toEqual([
      400,
      { detail: "Streaming is not supported." },
    ]);
  });
});

test("a chat is stored and counted as it was sent to the model", async () => {
  const before = await chatsCounted();
  const headers = { "x-api-key": testKey, "x-request-id": "stored-chat" };
  const body = { messages: [{ role: "developer", content: "Hi." }, ...messages], stream: true, seed: 3 };
  await (await presage.call("POST", path, body, headers)).text();
  const find = async () => {
    const found = await presage.call("GET", "/v1/predictions?request_id=stored-chat");
    return StoredPredictionListResponse.parse(await found.json()).data;
  };
  const [kept] = await eventually(find, (data) => data.length === 1);
  const detail = await presage.call("GET", `/v1/predictions/${kept?.id}`);
  expect(StoredPredictionDetail.parse(await detail.json())).toMatchObject({
    messages: [{ role: "system", content: "Hi." }, ...messages],
    params: { seed: 3 },
    output: "Hi.",
  });
  expect(await chatsCounted()).toBe(before + 1);
});

async function chatsCounted(): Promise<number> {
  const text = await (await presage.call("GET", "/metrics")).text();
  return Number(
    /^presage_http_requests_total\{[^}]*chat\/completions[^}]*"200"[^}]*\} (\d+)$/m.exec(text)?.[1],
  );
}

describe("the OpenAPI document", () => {
  async function chatOperation(url: string) {
    const document = (await (await fetch(`${url}/openapi.json`)).json()) as {
      paths: Record<
        string,
        { post: { requestBody: { content: unknown }; responses: Record<"200", unknown> } }
      >;
    };
    const { requestBody, responses } = document.paths[path]?.post ?? {};
    return JSON.stringify({ requestBody, ok: responses?.["200"] });
  }
  const strict = usePresage({ PRESAGE_UPSTREAM_URL: upstream.url });

  test("shows the schema that validates", async () => {
    expect(await chatOperation(presage.url)).toMatch(/OpenAiChatCompletionRequest.*text\/event-stream/);
    expect(await chatOperation(strict.url)).not.toMatch(/OpenAi|event-stream/);
  });
});
