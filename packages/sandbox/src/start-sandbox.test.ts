import { afterAll, describe, expect, test } from "bun:test";
import { startSandbox } from "./start-sandbox.ts";

const sandbox = startSandbox();
afterAll(() => sandbox.stop());

async function post(body: unknown): Promise<{ status: number; body: Record<string, unknown> }> {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const response = await fetch(`${sandbox.url}/chat/completions`, { method: "POST", body: text });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

const turn = [
  {
    role: "system",
    content:
      "## ENVIRONMENT STATE\n[COMPLETE ROOM MAP]\n[kitchen]\nThis room is called the kitchen. In it, you see: a table. a fridge. The fridge door is closed.",
  },
  { role: "user", content: "State: You are in the kitchen.\n\nAction: open fridge" },
];

describe("the sandbox over HTTP", () => {
  test("listens on loopback and says that it is not a language model", async () => {
    expect(sandbox.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/v1$/);
    const response = await fetch(`${sandbox.url}/models`);
    expect(await response.json()).toEqual({
      object: "list",
      data: [
        {
          id: "presage-sandbox",
          object: "model",
          created: expect.any(Number),
          owned_by: "presage",
          description: expect.stringContaining("rule-based simulator"),
        },
      ],
    });
  });

  test("responds to a turn with a complete completion", async () => {
    const { status, body } = await post({ model: "presage-sandbox", messages: turn, max_tokens: 100 });
    expect(status).toBe(200);
    expect(body).toEqual({
      id: expect.stringMatching(/^chatcmpl-/),
      object: "chat.completion",
      created: expect.any(Number),
      model: "presage-sandbox",
      choices: [
        {
          index: 0,
          message: { role: "assistant", content: "The fridge is now open." },
          finish_reason: "stop",
        },
      ],
      usage: { prompt_tokens: 49, completion_tokens: 6, total_tokens: 55 },
    });
  });

  test("truncates a completion at max_tokens", async () => {
    const { body } = await post({ messages: turn, max_tokens: 2 });
    expect(body).toMatchObject({
      choices: [{ message: { content: "The fridge" }, finish_reason: "length" }],
      usage: { completion_tokens: 2 },
    });
  });

  test("reads content in parts", async () => {
    const { body } = await post({
      messages: [{ role: "user", content: [{ type: "text", text: "wait1" }] }],
    });
    expect(body).toMatchObject({
      choices: [{ message: { content: "You decide to wait for 1 iterations." } }],
    });
  });

  test.each([
    ["no JSON", "{"],
    ["no object", "[]"],
    ["no messages", {}],
    ["an empty list of messages", { messages: [] }],
    ["a stream", { messages: turn, stream: true }],
  ])("refuses %s with 400", async (_name, request) => {
    const { status, body } = await post(request);
    expect(status).toBe(400);
    expect(body).toEqual({
      error: { message: expect.any(String), type: "invalid_request_error", param: null, code: null },
    });
  });

  test("refuses other paths", async () => {
    const response = await fetch(`${sandbox.url}/embeddings`, { method: "POST", body: "{}" });
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ error: { message: "Unknown path: POST /v1/embeddings" } });
  });

  test("serves many requests at once, and none after it has been stopped", async () => {
    const own = startSandbox();
    const requests = Array.from({ length: 200 }, (_, n) =>
      fetch(`${own.url}/chat/completions`, {
        method: "POST",
        body: JSON.stringify({ messages: [{ role: "user", content: `State: x\n\nAction: wait ${n}` }] }),
      }).then((response) => response.text()),
    );
    const texts = await Promise.all(requests);
    expect(texts.every((text, n) => text.includes(`wait for ${n} iterations`))).toBe(true);
    await own.stop();
    await expect(fetch(`${own.url}/models`)).rejects.toThrow();
  });
});
