import { afterAll, expect, test } from "bun:test";
import { setTimeout as sleep } from "node:timers/promises";
import type { CallWithCaller } from "../../http/call.ts";
import { closeCode, createOpenSockets, type SocketEvents, socketHandler } from "../../http/sockets.ts";
import { ClientDisconnectedError, UpstreamError } from "../../platform/errors.ts";
import { orAborted, orLate } from "../../platform/limits/deadline.ts";
import { acceptSocket, type SocketServices, untilDeadline } from "./openenv-socket.ts";

// The part of a server and of a call that accepting needs; opening thousands of sockets would take too long.
const services = { phase: () => "serving", sockets: createOpenSockets(4) } as unknown as SocketServices;
const server = Bun.serve<SocketEvents>({
  port: 0,
  websocket: socketHandler,
  fetch(request, bun) {
    const accountId = request.headers.get("x-account") ?? "";
    const call = { request, server: bun, caller: { accountId } } as unknown as CallWithCaller;
    const accepted = acceptSocket(services, call, { environment: "sandbox", path: "/ws" });
    // Bun has already answered the request of an accepted socket.
    return accepted.status === 101 ? undefined : accepted;
  },
});
afterAll(() => server.stop(true));

async function connect(account: string): Promise<WebSocket> {
  const socket = new WebSocket(`ws://127.0.0.1:${server.port}`, {
    headers: { "x-account": account, "x-api-key": "any" },
  });
  await new Promise((resolve) => socket.addEventListener("open", resolve, { once: true }));
  return socket;
}

/** The messages of a socket before it is closed. */
async function refusalOf(account: string): Promise<{ texts: unknown[]; code: number }> {
  const socket = new WebSocket(`ws://127.0.0.1:${server.port}`, {
    headers: { "x-account": account, "x-api-key": "any" },
  });
  const texts: unknown[] = [];
  socket.onmessage = ({ data }) => texts.push(JSON.parse(String(data)));
  const { code } = await new Promise<CloseEvent>((resolve) => {
    socket.onclose = resolve;
  });
  return { texts, code };
}

test("an account with too many sockets gets an error that says so, and others still get theirs", async () => {
  const mine = [await connect("a"), await connect("a"), await connect("a")];
  const refused = (message: string) => ({
    texts: [{ type: "error", data: { code: "CAPACITY_REACHED", message: expect.stringContaining(message) } }],
    code: closeCode.tryAgainLater,
  });
  expect(await refusalOf("a")).toEqual(refused("This account has 3 sockets open"));
  const other = await connect("b");
  expect(await refusalOf("b")).toEqual(refused("All accounts together"));
  for (const socket of [...mine, other]) socket.close();
});

test("at the deadline the work is aborted, with an error that says so", async () => {
  const { signal } = new AbortController();
  const never = untilDeadline(signal, (aborted) => orAborted(new Promise<string>(() => {}), aborted), 20);
  const error: unknown = await never.catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(UpstreamError);
  expect(error).toMatchObject({ category: "timeout", message: expect.stringContaining("0.02 s") });
});

test("a call that takes the deadline for its client's disconnect is not believed", async () => {
  const client = new AbortController();
  const call = (aborted: AbortSignal) =>
    orAborted(new Promise<string>(() => {}), aborted).catch(() => {
      throw new ClientDisconnectedError();
    });
  expect(await untilDeadline(client.signal, call, 20).catch(String)).toContain("There was no answer within");
  const gone = untilDeadline(client.signal, call).catch((error: unknown) => error);
  client.abort(new ClientDisconnectedError());
  expect(await gone).toBeInstanceOf(ClientDisconnectedError);
});

test("work that is stored just then is answered, not failed", async () => {
  const { signal } = new AbortController();
  const stored = untilDeadline(signal, () => sleep(60, "stored"), 20);
  expect(await orLate(stored, "late", 5_000)).toBe("stored");
});

test("later than a client waits there is no answer any more", async () => {
  expect(await orLate(new Promise<string>(() => {}), "late", 20)).toBe("late");
});
