import { afterAll, expect, test } from "bun:test";
import { createServer, type Socket } from "node:net";
import { createHttpClient, type ExchangeError } from "./http-client.ts";

let answer: (socket: Socket, call: number) => void;
let calls = 0;
let connections = 0;
const server = createServer((socket) => {
  connections += 1;
  socket.on("error", () => {});
  socket.on("data", () => answer(socket, ++calls));
});
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
afterAll(() => {
  server.close();
});
const address = server.address();
const url = `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}/v1`;
const { send } = createHttpClient(url);

async function call(method: "GET" | "POST" = "POST"): Promise<string> {
  const { signal } = new AbortController();
  const body = method === "POST" ? "{}" : undefined;
  const request = { method, path: "/x", headers: "", body, signal, isAlone: false };
  return await send({ ...request, onHead: undefined, onLength: undefined }).then(
    ({ status, bytes }) => `${status} ${new TextDecoder().decode(bytes)}`,
    (error: ExchangeError) => `${error.status} ${(error.cause as { code: string }).code}`,
  );
}

/** Gives a connection time to become reusable: ten turns of the event loop, however long each takes. */
async function rest(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await Bun.sleep(20);
}

const body = "content-length: 5\r\n\r\nhello";
for (const [what, raw, expected] of [
  ["HTTP/1.0", `HTTP/1.0 200 OK\r\n${body}`, "200 hello"],
  ["without a length", "HTTP/1.1 200 OK\r\n\r\nhello", "200 hello"],
  ["a 204", "HTTP/1.1 204 No Content\r\n\r\n", "204 "],
  [
    "behind interim ones",
    `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nx: y\r\n\r\nHTTP/1.1 200 OK\r\n${body}`,
    "200 hello",
  ],
  [
    "in chunks, with trailers",
    "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5;x=y\r\nhello\r\n0\r\nretry-after: 9\r\n\r\n",
    "200 hello",
  ],
  [
    "a change of protocol",
    "HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n",
    "0 Malformed_HTTP_Response",
  ],
  [
    "of a length and in chunks",
    `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n${body}`,
    "0 InvalidContentLength",
  ],
  ["of two lengths", `HTTP/1.1 200 OK\r\ncontent-length: 6\r\n${body}`, "0 InvalidContentLength"],
  [
    "of a length that is none",
    "HTTP/1.1 200 OK\r\ncontent-length: -5\r\n\r\nhello",
    "0 InvalidContentLength",
  ],
  ["HTTP/2.0", `HTTP/2.0 200 OK\r\n${body}`, "0 Malformed_HTTP_Response"],
  ["with a long head", `HTTP/1.1 200 OK\r\nx: ${"y".repeat(33_000)}\r\n${body}`, "0 Malformed_HTTP_Response"],
  ["too long", "HTTP/1.1 200 OK\r\ncontent-length: 99999999\r\n\r\nhello", "200 too_large"],
  [
    "of chunks that are none",
    "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\nhello\r\n",
    "200 Malformed_HTTP_Response",
  ],
  ["cut off in the head", "HTTP/1.1 200 OK\r\ncont", "0 ECONNRESET"],
  ["cut off in the body", "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhello", "200 ECONNRESET"],
] as const) {
  test(`a response ${what} is ${expected}`, async () => {
    answer = (socket) => socket.end(raw);
    expect(await call()).toBe(expected);
    // The same response, byte by byte.
    answer = async (socket) => {
      for (let at = 0; at < Math.min(raw.length, 400); at++) {
        socket.write(raw.slice(at, at + 1));
        await Bun.sleep(0);
      }
      socket.end(raw.slice(400));
    };
    expect(await call()).toBe(expected);
  });
}

test("a connection is used again once it has rested", async () => {
  answer = (socket) => socket.write(`HTTP/1.1 200 OK\r\n${body}`);
  connections = 0;
  for (let time = 0; time < 3; time++) {
    expect(await call()).toBe("200 hello");
    await rest();
  }
  expect(connections).toBe(1);
});

test("a kept connection that closes without a byte is replaced once by a new one", async () => {
  const good = `HTTP/1.1 200 OK\r\n${body}`;
  calls = 0;
  answer = (socket, number) => (number === 2 ? socket.resetAndDestroy() : socket.write(good));
  expect(await call()).toBe("200 hello");
  await rest();
  expect([await call(), calls]).toEqual(["200 hello", 3]);
  await rest();
  calls = 0;
  answer = (socket) => socket.resetAndDestroy();
  expect([await call(), calls]).toEqual(["0 ECONNRESET", 2]);
});

test("a kept connection that breaks after a byte of a response is not replaced", async () => {
  calls = 0;
  answer = (socket, number) => {
    if (number === 1) socket.write(`HTTP/1.1 200 OK\r\n${body}`);
    else socket.write("H", () => socket.resetAndDestroy());
  };
  expect(await call()).toBe("200 hello");
  await rest();
  expect([await call(), calls]).toEqual(["0 ECONNRESET", 2]);
});

test.each(["text", "blob"] as const)(
  "a long body, given as a %s, reaches a server that reads slowly",
  async (form) => {
    const long = "é".repeat(4_000_000);
    const connection = Promise.withResolvers<Socket>();
    let received = 0;
    const slow = createServer((socket) => {
      socket.pause();
      connection.resolve(socket);
      socket.on("data", (bytes) => {
        received += bytes.length;
        if (bytes.toString("latin1").endsWith("!")) socket.write(`HTTP/1.1 200 OK\r\n${body}`);
      });
    });
    await new Promise<void>((resolve) => slow.listen(0, "127.0.0.1", resolve));
    const place = slow.address();
    const client = createHttpClient(`http://127.0.0.1:${typeof place === "object" ? place?.port : 0}/v1`);
    const { signal } = new AbortController();
    const sent = form === "text" ? `${long}!` : new Blob([long, "!"]);
    const request = { method: "POST", path: "/x", headers: "", body: sent, signal, isAlone: true } as const;
    const answered = client.send({ ...request, onHead: undefined, onLength: undefined });
    const socket = await connection.promise;
    await Bun.sleep(200);
    expect(received).toBe(0);
    socket.resume();
    expect((await answered).status).toBe(200);
    expect(received).toBeGreaterThan(8_000_000);
    slow.close();
  },
);
