import { afterAll, expect, test } from "bun:test";
import { orAborted } from "../platform/limits/deadline.ts";
import {
  type AnswerOptions,
  answerInOrder,
  closeCode,
  createOpenSockets,
  type Reply,
  type SocketEvents,
  socketHandler,
} from "./sockets.ts";

let options: Pick<AnswerOptions, "answer" | "idleMs"> & Partial<AnswerOptions>;
let sockets = createOpenSockets();
const server = Bun.serve<SocketEvents>({
  port: 0,
  websocket: socketHandler,
  fetch(request, { upgrade }) {
    let leave = () => {};
    const socket = answerInOrder({ onClose: () => leave(), ...options });
    leave = sockets.add("account", socket);
    upgrade.call(server, request, { data: socket });
    return undefined;
  },
});
afterAll(() => server.stop(true));

const never = (_: unknown, signal: AbortSignal): Promise<Reply> =>
  orAborted(new Promise<Reply>(() => {}), signal).catch((error: unknown) => ({ text: String(error) }));

/** Returns what is received until the socket is closed, after sending a message if one is given. */
async function converse(message?: string, onOpen = () => {}): Promise<{ texts: string[]; code: number }> {
  const socket = new WebSocket(`ws://127.0.0.1:${server.port}`);
  const texts: string[] = [];
  socket.onmessage = ({ data }) => texts.push(String(data));
  socket.onopen = () => {
    if (message !== undefined) socket.send(message);
    onOpen();
  };
  const { code } = await new Promise<CloseEvent>((resolve) => {
    socket.onclose = resolve;
  });
  return { texts, code };
}

test("a socket on which nothing happens is closed", async () => {
  options = { idleMs: 500, answer: async () => ({ text: "seen" }) };
  expect(await converse("look")).toEqual({ texts: ["seen"], code: closeCode.normal });
  expect(sockets.count()).toBe(0);
});

test("an aborted socket says so before it is closed", async () => {
  const taken = Promise.withResolvers<void>();
  options = {
    idleMs: 60_000,
    answer: (message, signal) => {
      taken.resolve();
      return never(message, signal);
    },
  };
  const conversation = converse("look");
  await taken.promise;
  sockets.stop();
  expect(sockets.abort()).toBe(1);
  const { texts, code } = await conversation;
  expect(texts).toEqual([expect.stringContaining("The server is stopping.")]);
  expect(code).toBe(closeCode.goingAway);
  // A socket that is opened after that is closed immediately.
  expect(await converse()).toEqual({ texts: [], code: closeCode.goingAway });
  sockets = createOpenSockets();
});

test("a socket may be closed with its first word", async () => {
  const onOpen = () => ({ text: "full", close: { code: closeCode.tryAgainLater, reason: "" } });
  options = { idleMs: 60_000, answer: async () => ({}), onOpen };
  expect(await converse()).toEqual({ texts: ["full"], code: closeCode.tryAgainLater });
});

test("an account has at most three quarters of the sockets, so that it cannot shut others out", () => {
  const limited = createOpenSockets(8);
  const socket = () => ({ stop() {}, abort() {} });
  const leave = limited.add("a", socket());
  for (let count = 1; count < 6; count += 1) limited.add("a", socket());
  expect(() => limited.add("a", socket())).toThrow("This account has 6 sockets open");
  for (let count = 0; count < 2; count += 1) limited.add("b", socket());
  expect(() => limited.add("b", socket())).toThrow("All accounts together have too many");
  leave();
  leave();
  expect(limited.count()).toBe(7);
  // A place that was refused to another account does not go to the one that had the most.
  expect(() => limited.add("a", socket())).toThrow("All accounts together have too many");
  limited.add("b", socket());
});
