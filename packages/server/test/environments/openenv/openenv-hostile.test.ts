import { expect, test } from "bun:test";
import { connect as connectTcp, type Socket } from "node:net";
import { eventually, expectEventually } from "../../support/eventually.ts";
import { episodeOf, openEnvPath, openEnvSocket } from "../../support/openenv/openenv-socket.ts";
import { testKey } from "../../support/presage/presage.ts";
import { usePresage } from "../../support/presage/use-presage.ts";
import { completion } from "../../support/upstream/upstream.ts";
import { useUpstream } from "../../support/upstream/use-upstream.ts";

const upstream = useUpstream();
const presage = usePresage({ PRESAGE_UPSTREAM_URL: upstream.url });
const connect = () => openEnvSocket(presage.url, "sandbox");
const readMetric = async (name: string) => {
  const metrics = await (await fetch(`${presage.url}/metrics`)).text();
  return Number(new RegExp(`^${name} (\\d+)$`, "m").exec(metrics)?.[1]);
};
const openSockets = () => readMetric("presage_openenv_sockets");
const heldBytes = () => readMetric("presage_memory_held_bytes");

/** Makes the upstream answer only when the test says so. */
function hold(): { release(): void } {
  const held = Promise.withResolvers<void>();
  upstream.answer = async () => {
    await held.promise;
    return Response.json(completion("seen"));
  };
  return { release: () => held.resolve() };
}

test("what is no message gets an error, and the socket stays", async () => {
  upstream.answer = () => Response.json(completion("seen"));
  const socket = await connect();
  const wrong: [message: object | string | Uint8Array, code: string][] = [
    ["", "VALIDATION_ERROR"],
    ["{", "INVALID_JSON"],
    ["\u0000", "INVALID_JSON"],
    ["null", "VALIDATION_ERROR"],
    ["[]", "VALIDATION_ERROR"],
    ['"step"', "VALIDATION_ERROR"],
    [new Uint8Array([0xff, 0xfe]), "INVALID_JSON"],
    [`${"[".repeat(100_000)}${"]".repeat(100_000)}`, "INVALID_JSON"],
    [{}, "UNKNOWN_TYPE"],
    [{ type: "mcp", data: {} }, "UNKNOWN_TYPE"],
    [{ type: ["step"] }, "UNKNOWN_TYPE"],
    [{ type: "reset", data: [] }, "VALIDATION_ERROR"],
    [{ type: "reset", data: { seed: -1 } }, "VALIDATION_ERROR"],
    [{ type: "reset", data: { seed: "7" } }, "VALIDATION_ERROR"],
    [{ type: "reset", data: { episode_id: "x".repeat(256) } }, "VALIDATION_ERROR"],
    [{ type: "reset", data: { index: 9_999 } }, "EXECUTION_ERROR"],
    [{ type: "step", data: { message: "before any reset" } }, "EXECUTION_ERROR"],
    [{ type: "step" }, "VALIDATION_ERROR"],
    [{ type: "step", data: { message: "" } }, "VALIDATION_ERROR"],
    [{ type: "step", data: { message: 1 } }, "VALIDATION_ERROR"],
    [{ type: "step", data: { message: "x".repeat(100_001) } }, "VALIDATION_ERROR"],
    [{ type: "step", data: { message: "look", action: "look" } }, "VALIDATION_ERROR"],
  ];
  for (const [message, code] of wrong) {
    const reply = await socket.ask(message);
    const shown = typeof message === "string" ? message.slice(0, 20) : message;
    expect([shown, reply.type, reply.data.code]).toEqual([shown, "error", code]);
    expect(reply.data.message).toBeString();
  }
  const said = "Value error, Text must not contain NUL characters or lone surrogates";
  const refused = await socket.step("\0");
  expect(refused.data.message).toBe(`Invalid message: message: ${said}`);
  expect((await socket.reset({ episode_id: null, seed: null, index: 3 })).type).toBe("observation");
  expect((await socket.step("look")).data).toMatchObject({ observation: { prompt: "seen" } });
  socket.close();
});

test("a message of more than a megabyte closes its socket only", async () => {
  const [huge, other] = [await connect(), await connect()];
  huge.send({ type: "step", data: { message: "x".repeat(1_100_000) } });
  expect((await huge.closed).code).toBe(1009);
  expect((await other.reset()).type).toBe("observation");
  other.close();
});

test("messages that are sent ahead are answered in their order", async () => {
  let calls = 0;
  upstream.answer = () => {
    calls += 1;
    return Response.json(completion(`seen ${calls}`));
  };
  const socket = await connect();
  socket.send({ type: "reset", data: { index: 0 } });
  for (let count = 0; count < 5; count += 1) {
    socket.send({ type: "step", data: { message: `step ${count}` } });
    socket.send({ type: "state" });
  }
  expect((await socket.next())?.type).toBe("observation");
  for (let count = 1; count <= 5; count += 1) {
    expect((await socket.next())?.data).toMatchObject({ observation: { prompt: `seen ${count}` } });
    expect((await socket.next())?.data.step_count).toBe(count);
  }
  socket.close();
});

test("a flood while a step is under way closes the socket, and the step is given up", async () => {
  const held = hold();
  const socket = await connect();
  const id = episodeOf(await socket.reset());
  for (let count = 0; count < 1_000; count += 1)
    socket.send({ type: "step", data: { message: `step ${count}` } });
  expect(await socket.closed).toMatchObject({ code: 1008 });
  held.release();
  const again = await connect();
  expect((await again.reset({ episode_id: id })).data).toMatchObject({
    observation: { metadata: { step: 0 } },
  });
  again.close();
});

test("a client that is gone in the middle of a step gives it up, and the episode stands where it was", async () => {
  const aborted = Promise.withResolvers<void>();
  upstream.answer = (_, { signal }) => {
    signal.addEventListener("abort", () => aborted.resolve());
    return new Promise(() => {});
  };
  const socket = await connect();
  const id = episodeOf(await socket.reset());
  const asked = upstream.received.length;
  socket.send({ type: "step", data: { message: "look" } });
  await eventually(
    () => upstream.received.length,
    (count) => count > asked,
  );
  socket.cut();
  await aborted.promise;
  upstream.answer = () => Response.json(completion("seen"));
  const again = await connect();
  await again.reset({ episode_id: id });
  expect((await again.step("look")).data).toMatchObject({ observation: { metadata: { step: 1 } } });
  again.close();
});

/** A connection that has become a WebSocket and reads nothing more. */
async function silentSocket(): Promise<Socket> {
  const { hostname, port } = new URL(presage.url);
  const socket = connectTcp(Number(port), hostname);
  socket.write(
    `GET ${openEnvPath("sandbox")}/ws HTTP/1.1\r\nHost: ${hostname}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nX-API-Key: ${testKey}\r\n\r\n`,
  );
  const head = await new Promise<unknown>((resolve) => socket.once("data", resolve));
  expect(String(head)).toStartWith("HTTP/1.1 101");
  socket.pause();
  return socket;
}

/** A text frame of a client. Its mask is zero. */
function frame(message: object): Buffer {
  const payload = Buffer.from(JSON.stringify(message));
  return Buffer.concat([Buffer.from([0x81, 0x80 | payload.length, 0, 0, 0, 0]), payload]);
}

test("a client that does not read its answers is asked nothing more of, and is closed when it sends on", async () => {
  upstream.answer = () => Response.json(completion("x".repeat(4_000_000)));
  const before = await openSockets();
  const socket = await silentSocket();
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  socket.on("error", () => {});
  const asked = upstream.received.length;
  socket.write(frame({ type: "reset", data: { index: 0 } }));
  // These are enough to fill the system's buffers.
  for (let count = 0; count < 60; count += 1)
    socket.write(frame({ type: "step", data: { message: `step ${count}` } }));
  await eventually(
    () => upstream.received.length,
    (count) => count > asked,
  );
  // Replies that the client has not read count in the memory budget.
  expect(await eventually(heldBytes, (bytes) => bytes > 4_000_000)).toBeGreaterThan(4_000_000);
  for (let count = 0; count < 400; count += 1) socket.write(frame({ type: "state" }));
  await expectEventually(openSockets, before);
  expect(upstream.received.length - asked).toBeLessThan(20);
  await expectEventually(heldBytes, 0);
  socket.resume();
  await closed;
});

test("half a handshake, half a frame and garbage do no harm", async () => {
  const { hostname, port } = new URL(presage.url);
  const before = await openSockets();
  for (const text of [
    "GET /v1/environments/sandbox/openenv/ws HTTP/1.1\r\nUpgrade: web",
    "\u0000\u0001\u0002",
  ]) {
    const half = connectTcp(Number(port), hostname);
    half.on("error", () => {});
    half.write(text);
    half.destroy();
  }
  const garbage = await silentSocket();
  garbage.on("error", () => {});
  garbage.write(Buffer.from([0xff, 0xff, 0xff, 0xff, 0xff, 0xff]));
  const half = await silentSocket();
  half.on("error", () => {});
  half.write(frame({ type: "state" }).subarray(0, 5));
  half.destroy();
  await expectEventually(openSockets, before);
  const socket = await connect();
  expect((await socket.reset()).type).toBe("observation");
  socket.close();
});
