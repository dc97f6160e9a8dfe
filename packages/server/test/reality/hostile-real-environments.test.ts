import { afterAll, describe, expect, test } from "bun:test";
import { parseRealEnvironments } from "../../src/config/real-environments.ts";
import {
  type RealEnvironment,
  RealEnvironmentError,
  type RealFailure,
  type RealSession,
} from "../../src/reality/real/real-environment.ts";
import { createRealEnvironments } from "../../src/reality/real/real-environments.ts";
import {
  acceptWebSocket,
  flood,
  frameOf,
  type HostileServer,
  sendHttp,
  startHostileServer,
} from "../support/reality/hostile-server.ts";
import { selfSignedCertificate } from "../support/upstream/self-signed-certificate.ts";

const server = startHostileServer();
const elsewhere = startHostileServer();
afterAll(() => {
  server.stop();
  elsewhere.stop();
});

const secret = "hidden-key-of-the-real-environment";
const { signal } = new AbortController();
const task = { initial_state: "A room.", metadata: {} };

function declare(protocol: string, timeoutMs = 10_000, url = server.url): RealEnvironment {
  const text = `environments: { it: { protocol: ${protocol}, url: '${url}', environment: e, api_key_env: KEY, timeout_ms: ${timeoutMs} } }`;
  const settings = parseRealEnvironments("real.yaml", text, { KEY: secret });
  const environment = createRealEnvironments(settings, async () => false).find("it");
  if (environment === undefined) throw new Error("There is none.");
  return environment;
}

/** How the session fails; the message must not contain the key or the address. */
async function failureOf(
  environment: RealEnvironment,
  work: Promise<unknown>,
): Promise<RealFailure | string> {
  const error = await work.then(
    () => "it did not fail",
    (reason: unknown) => reason,
  );
  if (!(error instanceof RealEnvironmentError)) return String(error);
  expect(error.message).not.toMatch(/hidden|127\.0\.0\.1|http/);
  expect(error.message).toStartWith("The real environment");
  expect(environment.lastFailure()).toMatchObject({ category: error.category, message: error.message });
  expect(environment.inFlight()).toBe(0);
  return error.category;
}

/** How the reset fails. */
function resetOf(protocol: string, answer: HostileServer["answer"], timeoutMs?: number): Promise<string> {
  server.answer = answer;
  const environment = declare(protocol, timeoutMs);
  return failureOf(environment, environment.open(task, signal));
}

const deep = "[".repeat(400_000) + "]".repeat(400_000);

describe.each(["openenv", "ors", "http"])("A hostile server of %s", (protocol) => {
  test("that hangs, or sends a byte now and then, is a timeout", async () => {
    expect(await resetOf(protocol, () => {}, 200)).toBe("timeout");
    const drip: HostileServer["answer"] = (socket) => {
      socket.write("HTTP/1.1 200 OK\r\nx: ");
      const timer = setInterval(() => socket.write("y") > 0 || clearInterval(timer), 20);
    };
    expect(await resetOf(protocol, drip, 400)).toBe("timeout");
  });

  test("that closes the connection, or that is not there, is unavailable", async () => {
    expect(await resetOf(protocol, (socket) => socket.end())).toBe("unavailable");
    expect(await resetOf(protocol, (socket) => socket.terminate())).toBe("unavailable");
    const nowhere = declare(protocol, 10_000, "http://127.0.0.1:1");
    expect(await failureOf(nowhere, nowhere.open(task, signal))).toBe("unavailable");
  });

  test("that redirects is not followed", async () => {
    const location = `location: ${elsewhere.url}/\r\n`;
    expect(await resetOf(protocol, (socket) => sendHttp(socket, 307, "", location))).toBe("invalid");
    expect(elsewhere.connections).toBe(0);
  });

  test("that answers with another status, or with the key in its text, says no more than that", async () => {
    expect(await resetOf(protocol, (socket) => sendHttp(socket, 401, secret))).toBe("refused");
    expect(await resetOf(protocol, (socket) => sendHttp(socket, 422, server.url))).toBe("refused");
    expect(await resetOf(protocol, (socket) => sendHttp(socket, 503))).toBe("unavailable");
  });

  test("that answers junk is against its protocol", async () => {
    for (const junk of [
      "",
      "null",
      "{}",
      "<html>",
      '{"episode_id": "../..", "observation": ""}',
      deep,
      "\xff\xfe",
    ])
      expect([junk.slice(0, 40), await resetOf(protocol, (socket) => sendHttp(socket, 200, junk))]).toEqual([
        junk.slice(0, 40),
        "invalid",
      ]);
  });

  test("with a certificate that nobody signed is not trusted", async () => {
    await using tls = Bun.serve({ port: 0, tls: selfSignedCertificate(), fetch: () => Response.json({}) });
    const environment = declare(protocol, 10_000, `https://localhost:${tls.port}`);
    expect(await failureOf(environment, environment.open(task, signal))).toBe("unavailable");
  });

  test("does not keep who gives up, which is no failure of it", async () => {
    server.answer = () => {};
    const environment = declare(protocol);
    const gaveUp = AbortSignal.timeout(50);
    expect(await environment.open(task, gaveUp).catch((error: unknown) => error)).toBe(gaveUp.reason);
    expect([environment.inFlight(), environment.lastFailure()]).toEqual([0, undefined]);
  });
});

/** The megabytes sent, and the most additional memory used, while `work` runs. */
async function costOf(work: () => Promise<void>): Promise<{ sentMb: number; memoryMb: number }> {
  server.sentBytes = 0;
  Bun.gc(true);
  const before = process.memoryUsage.rss();
  let peak = before;
  const timer = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage.rss());
  }, 5);
  await work();
  clearInterval(timer);
  return { sentMb: server.sentBytes / 1e6, memoryMb: (peak - before) / 1e6 };
}

test.each([
  ["http", (socket) => socket.write("HTTP/1.1 200 OK\r\ncontent-length: 1000000000\r\n\r\n")],
  ["http", (socket) => socket.write("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n")],
  ["ors", (socket) => socket.write("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n")],
  ["openenv", (socket, said) => acceptWebSocket(socket, said) && socket.write(frameOf("", { length: 1e9 }))],
  ["openenv", (socket, said) => acceptWebSocket(socket, said) && socket.write(frameOf("", { first: 1 }))],
] as [string, HostileServer["answer"]][])(
  "Of a gigabyte by %s no more is read than a message may have",
  async (protocol, begin) => {
    const chunk = `3e8\r\n${"b".repeat(1000)}\r\n`;
    const part = frameOf("b".repeat(100), { first: 0 }).toString("latin1");
    const cost = await costOf(async () => {
      const answer: HostileServer["answer"] = (socket, said) => {
        if (socket.data.flood !== undefined) return;
        begin(socket, said);
        flood(socket, protocol === "openenv" ? part : chunk);
      };
      expect(await resetOf(protocol, answer)).toBe("too_large");
    });
    expect([cost, cost.sentMb < 64, cost.memoryMb < 128]).toEqual([cost, true, true]);
  },
);

/** The size of a masked pong with four bytes of payload. */
const pongBytes = 10;

/** A session at an OpenEnv server that resets correctly, and then gives this answer to a step. */
async function sessionWith(
  answer: (socket: Parameters<HostileServer["answer"]>[0]) => void,
  timeoutMs?: number,
) {
  const observation = (prompt: string) =>
    frameOf(
      JSON.stringify({ type: "observation", data: { observation: { prompt }, reward: null, done: false } }),
    );
  let messages = 0;
  server.answer = (socket, said) => {
    if (acceptWebSocket(socket, said)) {
      messages = 0;
      socket.data.text = "";
      return;
    }
    messages += 1;
    if (messages === 1) socket.write(observation("first"));
    else answer(socket);
  };
  const environment = declare("openenv", timeoutMs);
  const session = await environment.open(task, signal);
  expect(session.first).toBe('{"prompt":"first"}');
  return { environment, session, observation };
}

async function stepFailure(session: RealSession): Promise<string> {
  const error = await session.step("look", signal).catch((reason: unknown) => reason);
  await session.close();
  return error instanceof RealEnvironmentError ? error.category : String(error);
}

describe("An episode of OpenEnv", () => {
  test.each([
    ["timeout", () => {}],
    ["unavailable", (socket) => socket.terminate()],
    ["unavailable", (socket) => socket.write(frameOf("", { first: 0x88 }))],
    ["invalid", (socket) => socket.write(frameOf("{}"))],
    ["invalid", (socket) => socket.write(frameOf(`{"type":"observation","data":{"observation":${deep}}}`))],
    ["invalid", (socket) => socket.write(frameOf("binary", { first: 0x82 }))],
    ["invalid", (socket) => socket.write(frameOf("more", { first: 0x80 }))],
    ["invalid", (socket) => socket.write(frameOf("deflated", { first: 0xc1 }))],
    ["invalid", (socket) => socket.write(frameOf(Buffer.from([0xff])))],
    ["invalid", (socket) => socket.write(Buffer.from([0x81, 0x80, 1, 2, 3, 4]))],
    [
      "refused",
      (socket) =>
        socket.write(frameOf('{"type":"error","data":{"code":"EXECUTION_ERROR","message":"hidden"}}')),
    ],
    ["unavailable", (socket) => socket.write(frameOf('{"type":"error","data":{"code":"CAPACITY_REACHED"}}'))],
  ] as [string, Parameters<typeof sessionWith>[0]][])(
    "fails with %s, and takes no step after that",
    async (category, answer) => {
      // The other cases are far quicker, but not on a busy machine.
      const { environment, session } = await sessionWith(answer, category === "timeout" ? 400 : undefined);
      const failure = await session.step("look", signal).catch((error: unknown) => error);
      expect(failure).toMatchObject({ category });
      expect(await stepFailure(session)).toBe("unavailable");
      expect(environment.inFlight()).toBe(0);
    },
  );

  test("takes no message for an answer that came before it was asked for", async () => {
    const { session, observation } = await sessionWith((socket) => {
      socket.write(Buffer.concat([observation("second"), observation("third")]));
    });
    expect((await session.step("look", signal)).observation).toBe('{"prompt":"second"}');
    await Bun.sleep(50);
    expect(await stepFailure(session)).toBe("invalid");
  });

  test("is read from pieces, and its pings are answered", async () => {
    let stepBytes = 0;
    let rest = "";
    const { session } = await sessionWith((socket) => {
      rest = socket.data.text.slice(stepBytes || socket.data.text.length);
      if (rest.length > pongBytes) socket.terminate();
      if (stepBytes > 0) return;
      stepBytes = socket.data.text.length;
      const text = '{"type":"observation","data":{"observation":"ä\\u0000b","reward":true,"done":true}}';
      const bytes = Buffer.from(text);
      const parts = [
        frameOf(bytes.subarray(0, 51), { first: 0x01 }),
        frameOf("ping", { first: 0x89 }),
        frameOf(bytes.subarray(51), { first: 0x80 }),
      ];
      for (const byte of Buffer.concat(parts)) socket.write(Buffer.from([byte]));
    });
    expect(await session.step("look", signal)).toMatchObject({
      observation: "ä\ufffdb",
      reward: 1,
      done: true,
    });
    await session.close();
    expect(rest).toStartWith("\x8a\x84");
  });
});

describe("A server of ORS", () => {
  const output = {
    blocks: [{ type: "text", text: "one\u2028event: end" }, { type: "image" }, { type: "text", text: "two" }],
  };
  const result = JSON.stringify({
    ok: true,
    output: { ...output, metadata: { at: 3 }, reward: 0.5, finished: true },
  });
  const streams = [
    `: ping\r\n\r\nevent: task_id\r\ndata: t\r\n\r\nevent: chunk\r\ndata: ${result.slice(0, 30)}\r\n\r\nevent: end\r\ndata: ${result.slice(30)}\r\n\r\n`,
    'event: end\ndata: {"ok":false,"error":"hidden"}\n\n',
    "event: task_id\ndata: t\n\nevent: error\ndata: hidden\n\n",
    `event: chunk\ndata: ${result}\n\n`,
  ];
  const asked: string[] = [];
  const ors = Bun.serve({
    port: 0,
    async fetch(request) {
      const { pathname } = new URL(request.url);
      const name = `${request.method} ${pathname} ${request.headers.get("x-session-id")} ${await request.text()}`;
      asked.push(name);
      if (pathname === "/create_session")
        return new Response("event: task_id\r\ndata: sid\r\n\r\nevent: end\r\ndata: \r\n\r\n");
      if (pathname === "/e/prompt") return Response.json([{ type: "text", text: "first" }]);
      return pathname === "/e/call" ? new Response(streams.shift()) : Response.json({});
    },
  });
  afterAll(() => ors.stop(true));

  test("is called in chunks, whose result may fail, and forgets its session at the end", async () => {
    const environment = declare("ors", 10_000, `http://127.0.0.1:${ors.port}`);
    const outcomes: unknown[] = [];
    for (let episode = 0; episode < 4; episode += 1) {
      const session = await environment.open(task, signal);
      outcomes.push(
        await session.step("look", signal).catch(({ category }: RealEnvironmentError) => category),
      );
      await session.close();
    }
    const step = {
      observation: "one\u2028event: end\ntwo",
      reward: 0.5,
      done: true,
      latencyMs: expect.any(Number),
    };
    expect(outcomes).toEqual([step, "refused", "refused", "invalid"]);
    expect(asked.slice(0, 6)).toEqual([
      "POST /create_session null {}",
      'POST /create sid {"env_name":"e","task_spec":{}}',
      "GET /e/prompt sid ",
      'POST /e/call sid {"name":"act","input":{"action":"look"}}',
      "POST /delete sid ",
      "POST /delete_session sid ",
    ]);
  });
});
