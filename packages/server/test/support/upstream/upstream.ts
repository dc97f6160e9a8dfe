import { listenOnFreePort } from "../free-port.ts";
import { upstreamHost } from "./as-replicas.ts";

/** A request as the upstream received it. */
export interface ReceivedRequest {
  method: string;
  path: string;
  headers: Headers;
  text: string;
  /** The body, parsed; undefined if there was none. */
  body: Record<string, unknown> & { messages: { role: string; content: string }[] };
}

export type Answer = (received: ReceivedRequest, request: Request) => Response | Promise<Response>;

/** A chat-completions deployment over real HTTP, controlled by a test. */
export interface TestUpstream {
  url: string;
  /** Every request to `/v1/chat/completions`, oldest first. */
  received: ReceivedRequest[];
  /** The response from now on. */
  answer: Answer;
  /** What `/v1/models` lists. */
  models: Record<string, unknown>[];
  stop(): Promise<void>;
}

export function completion(content: unknown, more: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    id: "chatcmpl-1",
    object: "chat.completion",
    created: 1,
    model: "test-model",
    choices: [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }],
    usage: { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 },
    ...more,
  };
}

export function startUpstream(
  answer: Answer = () => Response.json(completion("The door is open.")),
): TestUpstream {
  const server = listenOnFreePort((port) =>
    Bun.serve({
      hostname: upstreamHost,
      port,
      idleTimeout: 255,
      async fetch(request) {
        const path = new URL(request.url).pathname;
        if (path === "/v1/models") {
          return Response.json({ object: "list", data: upstream.models });
        }
        const text = await request.text();
        const received = {
          method: request.method,
          path,
          headers: request.headers,
          text,
          body: text ? JSON.parse(text) : undefined,
        };
        upstream.received.push(received);
        return await upstream.answer(received, request);
      },
    }),
  );
  const upstream: TestUpstream = {
    url: `http://127.0.0.1:${server.port}/v1`,
    received: [],
    answer,
    models: [{ id: "test-model", object: "model", created: 1, owned_by: "us" }],
    stop: () => server.stop(true),
  };
  return upstream;
}
