import { beforeEach, describe, expect, test } from "bun:test";
import { errorBody } from "../support/presage/error-body.ts";
import { usePresage } from "../support/presage/use-presage.ts";
import { completion } from "../support/upstream/upstream.ts";
import { useUpstream } from "../support/upstream/use-upstream.ts";

const upstream = useUpstream();
const presage = usePresage({ PRESAGE_UPSTREAM_URL: upstream.url });
const messages = [{ role: "user", content: "Hello." }];
const interaction = { state: "You are in the hall.", action: "go north" };
const path = "/v1/chat/completions";

beforeEach(() => {
  upstream.received.length = 0;
  upstream.answer = () => Response.json(completion("Hi."));
});

async function sentFor(body: Record<string, unknown>) {
  const answer = await presage.call("POST", path, body);
  expect(answer.status).toBe(200);
  return upstream.received.at(-1)?.body;
}

test("the upstream's bytes come back unchanged", async () => {
  const bytes = new TextEncoder().encode(
    '{ "usage" : null,\r\n\t"choices":[ {"message" : {"content":"\\u00e9 é 🚪 \\ud83d\\udeaa","role":"assistant"},"index":0,' +
      '"matched_stop":123456789012345678901234567890}],"created":1.0e0,"id":"x","zeta":-0.0,"id2":1E400,  "model":"m","object":"o"}\n\n',
  );
  upstream.answer = () => new Response(bytes, { headers: { "content-type": "application/json" } });
  for (const body of [{ messages }, { interaction }]) {
    const answer = await presage.call("POST", path, body);
    expect(new Uint8Array(await answer.arrayBuffer())).toEqual(bytes);
  }
});

describe("pass-through mode", () => {
  test("messages and unknown properties are forwarded unchanged, in the caller's order", async () => {
    const text =
      '{"tools":[{"z":1,"a":{"__proto__":{"x":1}}}],"messages":[{"name":"n","content":"Hello.","role":"user","extra":[1,null]}],"user":"u"}';
    await presage.call("POST", path, text);
    const sent = upstream.received.at(-1)?.text ?? "";
    expect(sent).toContain('"messages":[{"name":"n","content":"Hello.","role":"user","extra":[1,null]}]');
    expect(sent).toContain('"tools":[{"z":1,"a":{"__proto__":{"x":1}}}]');
    expect(sent).toContain('"user":"u"');
  });

  test("defaults are filled in, top-level sampling fields are used, nulls are omitted", async () => {
    expect(
      await sentFor({ messages, model: null, context: null, interaction: null, params: null, user: null }),
    ).toEqual({
      model: "test-model",
      messages,
      max_tokens: 512,
      temperature: 0.2,
      top_p: 1,
    });
    const sampling = { max_tokens: 1, temperature: 0, top_p: 0.5, top_k: 3 };
    expect(await sentFor({ messages, ...sampling, model: "mine" })).toEqual({
      messages,
      ...sampling,
      model: "mine",
    });
  });

  test("params override the top-level sampling fields", async () => {
    expect(
      await sentFor({ messages, max_tokens: 1, top_k: 3, seed: 1, params: { temperature: 1, seed: 2 } }),
    ).toEqual({
      model: "test-model",
      messages,
      max_tokens: 512,
      temperature: 1,
      top_p: 1,
      seed: 2,
    });
  });

  test("a token limit under OpenAI's newer name is not contradicted by the default", async () => {
    expect(await sentFor({ messages, max_completion_tokens: 9 })).not.toHaveProperty("max_tokens");
    expect(await sentFor({ messages, max_completion_tokens: 9, max_tokens: 8 })).toHaveProperty(
      "max_tokens",
      8,
    );
  });

  test("without messages it is 422 at messages", async () => {
    for (const body of [{}, { messages: [] }, { interaction: null, context: null }]) {
      const answer = await presage.call("POST", path, body);
      expect(answer.status).toBe(422);
      const { detail } = (await answer.json()) as { detail: unknown[] };
      expect(detail).toEqual([
        { type: "missing", loc: ["body", "messages"], msg: "Field required", input: body },
      ]);
    }
  });
});

describe("structured mode", () => {
  test("the prompt is composed as for a prediction, and messages are ignored", async () => {
    const sent = await sentFor({ context: { task_context: "Find it." }, interaction, messages, user: "u" });
    expect(sent).toMatchObject({ user: "u" });
    expect(sent?.messages).toEqual([
      { role: "system", content: "## TASK CONTEXT\nFind it." },
      { role: "user", content: "State: You are in the hall.\n\nAction: go north" },
    ]);
    for (const field of ["context", "interaction", "params"]) expect(sent).not.toHaveProperty(field);
  });

  test("without an interaction it is 422 at interaction", async () => {
    const body = { context: { task_context: "Find it." }, messages };
    const answer = await presage.call("POST", path, body);
    expect(answer.status).toBe(422);
    const { detail } = (await answer.json()) as { detail: unknown[] };
    expect(detail).toEqual([
      { type: "missing", loc: ["body", "interaction"], msg: "Field required", input: body },
    ]);
  });
});

test("streaming is rejected with 400 before anything is sent", async () => {
  const answer = await presage.call("POST", path, { messages, stream: true });
  expect([answer.status, await errorBody(answer)]).toEqual([400, { detail: "Streaming is not supported." }]);
  expect(upstream.received).toHaveLength(0);
  expect((await presage.call("POST", path, { messages, stream: false })).status).toBe(200);
});

test("a response that is not a completion is 502", async () => {
  for (const body of ["[]", '{"choices":[]}', '{"choices":[{}]}', '{"choices":[{"message":"x"}]}', "\xff"]) {
    upstream.answer = () => new Response(body);
    const answer = await presage.call("POST", path, { messages });
    expect([body, answer.status]).toEqual([body, 502]);
    expect(await answer.json()).toMatchObject({ category: "upstream", upstream_status: 200 });
  }
});
