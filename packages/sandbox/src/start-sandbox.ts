import { completeChat, readChatRequest, sandboxModel } from "./chat.ts";

export interface Sandbox {
  /** Base URL of the chat-completions protocol: http://127.0.0.1:PORT/v1 */
  url: string;
  stop(): Promise<void>;
}

/** The maximum that Bun allows. Responses take milliseconds; this is for connections that a client keeps open. */
const idleTimeoutS = 255;

/** Starts the upstream that is used if none is configured, on a free port of the loopback interface. */
export function startSandbox(): Sandbox {
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: idleTimeoutS,
    routes: {
      "/v1/models": { GET: () => Response.json({ object: "list", data: [sandboxModel] }) },
      "/v1/chat/completions": { POST: handleChat },
    },
    fetch: (request) => fail(404, `Unknown path: ${request.method} ${new URL(request.url).pathname}`),
  });
  return {
    url: `http://127.0.0.1:${server.port}/v1`,
    stop: () => server.stop(true),
  };
}

async function handleChat(request: Request): Promise<Response> {
  const body: unknown = await request.json().catch(() => undefined);
  if (body === undefined) return fail(400, "The body is not valid JSON");
  const chat = readChatRequest(body);
  return typeof chat === "string" ? fail(400, chat) : Response.json(completeChat(chat));
}

function fail(status: number, message: string): Response {
  return Response.json(
    { error: { message, type: "invalid_request_error", param: null, code: null } },
    { status },
  );
}
