import { afterAll, beforeAll, expect, test } from "bun:test";
import { expectEventually } from "../support/eventually.ts";
import { openEnvSocket } from "../support/openenv/openenv-socket.ts";
import { openRawClient } from "../support/presage/raw-client.ts";
import { type SpawnedPresage, spawnPresage } from "../support/presage/spawn-presage.ts";

/** Runs in its own process: in this one it would wait for the client that reads its answers. */
let presage: SpawnedPresage;
beforeAll(async () => {
  presage = await spawnPresage({ PRESAGE_DATABASE_URL: "sqlite::memory:" });
});
afterAll(() => presage[Symbol.asyncDispose]());

/** Sends requests without waiting for answers, the last of which asks to close the connection. Returns how many were answered. */
async function pipeline(request: string, count: number): Promise<number> {
  const { socket } = await openRawClient(presage.url);
  let text = "";
  socket.on("data", (chunk: Buffer) => {
    text += chunk.toString("latin1");
  });
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  socket.write(request.repeat(count - 1) + request.replace("\r\n\r\n", "\r\nconnection: close\r\n\r\n"));
  await closed;
  return text.split("HTTP/1.1 ").length - 1;
}

for (const [what, request] of [
  ["/health", "GET /health HTTP/1.1\r\nhost: a\r\n\r\n"],
  ["a path that is not there", "GET /nothing HTTP/1.1\r\nhost: a\r\n\r\n"],
  ["an address that wants a key", "GET /v1/usage HTTP/1.1\r\nhost: a\r\n\r\n"],
  ["a body that is wrong", "POST /v1/predict HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\n\r\n{}"],
] as const) {
  test(`a connection that sends thousands of requests for ${what} is closed, and others are served`, async () => {
    const answered = pipeline(request, 50_000);
    expect((await presage.call("GET", "/v1/whoami")).status).toBe(200);
    expect(await answered).toBeLessThan(1_000);
  });
}

test("64 requests that are sent at once are all answered", async () => {
  // Requests left over from before may share a turn with these.
  await expectEventually(() => pipeline("GET /health HTTP/1.1\r\nhost: a\r\n\r\n", 64), 64);
});

test("a WebSocket that sends thousands of messages without waiting is closed, and others are served", async () => {
  const socket = await openEnvSocket(presage.url, "sandbox");
  for (let sent = 0; sent < 100_000; sent += 1) socket.send("x");
  expect((await presage.call("GET", "/v1/whoami")).status).toBe(200);
  expect(await socket.closed).toEqual({
    code: 1008,
    reason: "Too many messages at once: wait for the answers.",
  });
});
