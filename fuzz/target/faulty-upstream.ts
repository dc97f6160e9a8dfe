import { createServer, type Socket } from "node:net";

const message = (content: unknown, more: object = {}) => ({
  id: "chatcmpl-1",
  object: "chat.completion",
  created: 1,
  model: "faulty",
  choices: [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }],
  usage: { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 },
  ...more,
});

const refusal = (text: string, more: object = {}) => ({ error: { message: text, type: "error", ...more } });

/** Responses that a faulty chat-completions server might send: status, body, headers. */
const responses: readonly [status: number, body: unknown, headers?: Record<string, string>][] = [
  [200, message("The door is open.")],
  [200, message("The door is open.")],
  [200, message("The door is open.")],
  [200, message(null)],
  [200, message("\ud800 \u0000 \u202e")],
  [200, message(["a"])],
  [200, message({})],
  [200, message("x".repeat(200_000))],
  [200, message("<think>hm</think>yes", { usage: null })],
  [200, message("yes", { usage: { prompt_tokens: -5, completion_tokens: 1e300, total_tokens: null } })],
  [200, message("yes", { usage: { prompt_tokens: 1.5, completion_tokens: "7" } })],
  [200, message("yes", { usage: [] })],
  [200, message("yes", { choices: [] })],
  [200, message("yes", { choices: [null] })],
  [200, message("yes", { choices: {} })],
  [200, message("yes", { choices: [{ message: "text", finish_reason: 3, matched_stop: {} }] })],
  [200, message("yes", { choices: [{ message: { content: "x", reasoning_content: 5 }, stop_reason: [1] }] })],
  [200, message("yes", { id: 5, object: null, created: "x", model: null })],
  [200, message("yes", { created: 1.5 })],
  [200, null],
  [200, []],
  [200, "text"],
  [200, ""],
  [200, "{"],
  [200, "[".repeat(5_000)],
  [200, "\ufeff{}"],
  [200, refusal("rate limit", { code: 429 })],
  [200, refusal("overloaded", { code: "503" })],
  [200, { error: null }],
  [200, "\u001f\u008b no gzip", { "content-encoding": "gzip" }],
  [200, message("yes"), { "content-encoding": "gzip" }],
  [200, message("yes"), { "content-type": "text/event-stream" }],
  [201, message("yes")],
  [202, ""],
  [204, ""],
  [206, message("yes")],
  [301, "", { location: "http://127.0.0.1:1/" }],
  [302, "", { location: "/v1/chat/completions" }],
  [304, ""],
  [400, refusal("This model's maximum context length is 10 tokens, however you requested 20 tokens")],
  [400, refusal("bad")],
  [400, "<html>bad</html>", { "content-type": "text/html" }],
  [401, refusal("no key")],
  [403, "\ud83d"],
  [404, refusal("no such model")],
  [408, ""],
  [413, refusal("too large")],
  [418, "x".repeat(100_000)],
  [422, { detail: [{ loc: ["body"], msg: "x", type: "y" }] }],
  [429, refusal("slow down"), { "retry-after": "1" }],
  [429, refusal("slow down"), { "retry-after": "-1" }],
  [429, "", { "retry-after": "Wed, 21 Oct 2099 07:28:00 GMT" }],
  [429, "", { "retry-after": "1".repeat(400) }],
  [499, ""],
  [500, refusal("broken")],
  [500, ""],
  [502, "<html>nginx</html>"],
  [503, refusal("overloaded"), { "retry-after": "0" }],
  [503, ""],
  [504, ""],
  [522, ""],
  [529, refusal("overloaded")],
  [599, ""],
  [600, ""],
  [999, ""],
];

/** Lists of models that a faulty server might send. */
const modelLists: readonly unknown[] = [
  { object: "list", data: [{ id: "faulty", object: "model", created: 1, owned_by: "nobody" }] },
  { object: "list", data: [] },
  { data: [null, 5, { id: 7 }] },
  { data: [{ id: "faulty" }], object: null },
  { data: [[]] },
  { data: {} },
  {},
];

/** Invalid or incomplete HTTP. Undefined closes the connection without a response. */
const wrecks: readonly (string | undefined)[] = [
  undefined,
  "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nshort",
  "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
  "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nab",
  "HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n",
  "HTTP/1.1 OK\r\n\r\n",
  "SSH-2.0-OpenSSH_9.0\r\n",
  "HTTP/1.1 200 OK\r\n",
  `HTTP/1.1 200 OK\r\nx: ${"x".repeat(100_000)}\r\ncontent-length: 2\r\n\r\n{}`,
];

/** First byte of a GET, which lists the models. */
const getInitial = "G".charCodeAt(0);

export interface FaultyUpstream {
  url: string;
  stop(): void;
}

/** An upstream that fails in every known way, one after the other. A few of its responses are valid. */
export async function startFaultyUpstream(): Promise<FaultyUpstream> {
  const sockets = new Set<Socket>();
  let turn = 0;
  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => {});
    let chunks: Buffer[] = [];
    socket.on("data", (chunk: Buffer) => {
      chunks.push(chunk);
      const bytes = Buffer.concat(chunks);
      if (!isWhole(bytes)) return;
      chunks = [];
      turn += 1;
      respond(socket, turn, bytes[0] === getInitial);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    stop() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

function isWhole(bytes: Buffer): boolean {
  const headEnd = bytes.indexOf("\r\n\r\n");
  if (headEnd < 0) return false;
  const head = bytes.subarray(0, headEnd).toString("latin1");
  return bytes.length >= headEnd + 4 + Number(/^content-length: *(\d+)/im.exec(head)?.[1] ?? 0);
}

function respond(socket: Socket, turn: number, isForModels: boolean): void {
  // Sometimes there is no response at all, until the caller's own deadline.
  if (turn % 97 === 0) return;
  if (turn % 11 === 0) {
    const wreck = wrecks[(turn / 11) % wrecks.length];
    if (wreck === undefined) socket.destroy();
    else socket.end(wreck, "latin1");
    return;
  }
  const [status, body, headers = {}] =
    isForModels && turn % 2 === 0
      ? [200, modelLists[(turn / 2) % modelLists.length]]
      : (responses[turn % responses.length] ?? [200, ""]);
  const bytes = Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
  const lines = { "content-type": "application/json", "content-length": String(bytes.length), ...headers };
  const head = Object.entries(lines).map(([name, value]) => `${name}: ${value}\r\n`);
  const hasBody = status !== 204 && status !== 304;
  socket.write(
    Buffer.concat([
      Buffer.from(`HTTP/1.1 ${status} x\r\n${head.join("")}\r\n`),
      hasBody ? bytes : Buffer.alloc(0),
    ]),
  );
}
