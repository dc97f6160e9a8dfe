import { beforeEach, describe, expect, test } from "bun:test";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { ChatOpenAI } from "@langchain/openai";
import { APICallError, generateText } from "ai";
import OpenAI, { type APIError } from "openai";
import { testKey } from "../support/presage/presage.ts";
import { usePresage } from "../support/presage/use-presage.ts";
import { completion } from "../support/upstream/upstream.ts";
import { useUpstream } from "../support/upstream/use-upstream.ts";

const upstream = useUpstream();
const presage = usePresage({
  PRESAGE_UPSTREAM_URL: upstream.url,
  PRESAGE_UPSTREAM_RETRIES: "0",
  PRESAGE_MAX_BODY_BYTES: "4096",
});
beforeEach(() => {
  upstream.received.length = 0;
  upstream.answer = () => Response.json(completion("Hi."));
});

/** What a client's user sees of an error. */
interface Shown {
  status: unknown;
  code: unknown;
  message: string;
}

interface Settings {
  prompt?: string;
  apiKey?: string;
  topP?: number;
  maxRetries?: number;
}

/** Completes a chat, and returns the text or throws what the client throws. */
type Ask = (settings: Settings) => Promise<string>;

interface Client {
  ask: Ask;
  shown(error: unknown): Shown;
}

const baseURL = () => `${presage.url}/v1`;
const model = "test-model";

/** For openai and for LangChain, which throws openai's errors. */
function shownByOpenAi(error: unknown): Shown {
  if (!(error instanceof Error)) throw error;
  const { status, code } = error as Error & Partial<Pick<APIError, "status" | "code">>;
  return { status, code, message: error.message };
}

const clients: Record<string, Client> = {
  openai: {
    async ask({ prompt = "Hello.", apiKey = testKey, topP = 1, maxRetries = 0 }) {
      const client = new OpenAI({ baseURL: baseURL(), apiKey, maxRetries });
      const messages = [{ role: "user" as const, content: prompt }];
      const { choices } = await client.chat.completions.create({ model, messages, top_p: topP });
      return choices[0]?.message.content ?? "";
    },
    shown: shownByOpenAi,
  },
  "@langchain/openai": {
    async ask({ prompt = "Hello.", apiKey = testKey, topP = 1, maxRetries = 0 }) {
      const configuration = { baseURL: baseURL() };
      const chat = new ChatOpenAI({ model, apiKey, topP, maxRetries, configuration });
      return String((await chat.invoke(prompt)).content);
    },
    shown: shownByOpenAi,
  },
  "ai with @ai-sdk/openai-compatible": {
    async ask({ prompt = "Hello.", apiKey = testKey, topP = 1, maxRetries = 0 }) {
      const provider = createOpenAICompatible({ name: "presage", baseURL: baseURL(), apiKey });
      const request = { model: provider(model), prompt, topP, maxRetries };
      return (await generateText(request)).text;
    },
    shown(error) {
      if (!APICallError.isInstance(error)) throw error;
      const { error: data } = error.data as { error: { code: unknown } };
      return { status: error.statusCode, code: data.code, message: error.message };
    },
  },
};

async function errorOf(call: Promise<unknown>): Promise<unknown> {
  try {
    await call;
  } catch (error) {
    return error;
  }
  throw new Error("The call did not fail.");
}

function upstreamFails(status: number, message: string): void {
  upstream.answer = () => Response.json({ error: { message } }, { status });
}

for (const [name, { ask, shown }] of Object.entries(clients)) {
  describe(`The client ${name}`, () => {
    const expectShown = async (settings: Settings, { status, code, message }: Shown) => {
      const actual = shown(await errorOf(ask(settings)));
      expect(actual).toEqual({ status, code, message: expect.stringContaining(message) });
    };

    test("completes a chat", async () => {
      expect(await ask({})).toBe("Hi.");
    });

    test("shows the message, status and code of a wrong key", async () => {
      await expectShown({ apiKey: "wrong" }, { status: 401, code: "invalid_api_key", message: "key" });
    });

    test("shows what is wrong with a request, and where", async () => {
      await expectShown(
        { topP: 2 },
        { status: 422, code: "invalid_request", message: "top_p: Input should be less than or equal to 1" },
      );
    });

    test("shows that a body is too large", async () => {
      await expectShown(
        { prompt: "x".repeat(5_000) },
        { status: 413, code: "body_too_large", message: "The request body is larger than 4096 bytes." },
      );
    });

    test("shows that the context is too long", async () => {
      upstreamFails(400, "This model's maximum context length is 10 tokens.");
      await expectShown(
        {},
        {
          status: 413,
          code: "context_length_exceeded",
          message: "The input exceeds the upstream model's context length.",
        },
      );
    });

    test("shows each failure of the upstream", async () => {
      for (const [answered, status, code, message] of [
        [429, 429, "rate_limit_exceeded", "The upstream limits the rate of requests."],
        [500, 502, "upstream_error", "The upstream failed the request."],
        [503, 503, "upstream_unavailable", "The upstream is temporarily unavailable."],
        [504, 504, "upstream_timeout", "The upstream timed out."],
      ] as const) {
        upstreamFails(answered, "no");
        await expectShown({}, { status, code, message });
      }
    });
  });
}

test("openai does not retry a request that the upstream refused, though it retries other failures", async () => {
  const { ask } = clients.openai as Client;
  upstreamFails(400, "no");
  await errorOf(ask({ maxRetries: 2 }));
  expect(upstream.received).toHaveLength(1);
  upstream.received.length = 0;
  upstreamFails(500, "no");
  await errorOf(ask({ maxRetries: 2 }));
  expect(upstream.received).toHaveLength(3);
});

test("openai finds a model whose id has a slash, and shows that another is not listed", async () => {
  upstream.models = [{ id: "org/model", object: "model", created: 1, owned_by: "us" }];
  const client = new OpenAI({ baseURL: baseURL(), apiKey: testKey, maxRetries: 0 });
  expect((await client.models.retrieve("org/model")).id).toBe("org/model");
  const error = await errorOf(client.models.retrieve("org/other"));
  expect(error).toBeInstanceOf(OpenAI.NotFoundError);
  expect(shownByOpenAi(error)).toEqual({
    status: 404,
    code: "not_found",
    message: "404 The upstream lists no such model.",
  });
});

test("openai shows that nothing is at a path: a base URL without /v1, and what Presage does not have", async () => {
  for (const [path, body, instead] of [
    ["/chat/completions", { model, messages: [] }, ""],
    ["/v1/responses", { model, input: "Hello." }, " Presage has no Responses API; use /v1/chat/completions."],
  ] as const) {
    const client = new OpenAI({ baseURL: presage.url, apiKey: testKey, maxRetries: 0 });
    expect(shownByOpenAi(await errorOf(client.post(path, { body })))).toEqual({
      status: 404,
      code: "not_found",
      message: `404 There is nothing at this path.${instead}`,
    });
  }
});
