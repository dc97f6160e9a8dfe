import { describe, expect, test } from "bun:test";
import type { Socket } from "node:net";
import { presageOver } from "../support/presage/presage-with-raw-upstream.ts";
import { upstreamClients } from "../support/upstream/as-replicas.ts";
import { httpResponse } from "../support/upstream/raw-upstream.ts";
import { completion } from "../support/upstream/upstream.ts";

describe.each(upstreamClients)("over %s", (client) => {
  const presageWithRawUpstream = presageOver(client);

  const stolen = "An answer that nobody asked for.";
  const chunked = (text: string) =>
    `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n${text.length.toString(16)}\r\n${text}\r\n0\r\n\r\n`;
  const inChunks = (content: string) => chunked(JSON.stringify(completion(content)));
  const inOnePiece = (content: string) => httpResponse(200, completion(content));

  /** Calls one after another, and returns each distinct response once. */
  async function askInTurn(
    predict: () => Promise<Response>,
    calls: number,
    pauseMs: number,
  ): Promise<string[]> {
    const contents: string[] = [];
    for (let call = 0; call < calls; call++) {
      const response = await predict();
      const { response: said } = (await response.json()) as { response?: { content: string } };
      contents.push(said?.content ?? String(response.status));
      await Bun.sleep(pauseMs);
    }
    return [...new Set(contents)];
  }

  for (const [form, write] of [
    ["of a declared length", inOnePiece],
    ["in chunks", inChunks],
  ] as const) {
    for (const [when, answerTwice] of [
      ["with the first", (socket: Socket) => socket.write(write("Open.") + write(stolen))],
      [
        "right after the first",
        (socket: Socket) => {
          socket.write(write("Open."));
          socket.write(write(stolen));
        },
      ],
      [
        "while there are no requests",
        (socket: Socket) => {
          socket.write(write("Open."));
          setTimeout(() => socket.write(write(stolen)), 20);
        },
      ],
    ] as const) {
      test(`a second response ${form} that arrives ${when} goes to no one`, async () => {
        await using server = await presageWithRawUpstream(({ socket }) => answerTwice(socket));
        const pauseMs = when === "while there are no requests" ? 60 : 0;
        expect(await askInTurn(() => server.predict(), 10, pauseMs)).toEqual(["Open."]);
      }, 300_000);
    }
  }

  for (const lateMs of client === "sockets" ? [1, 5] : []) {
    test(`a second response ${lateMs} ms late goes to no one, though the next calls follow at once`, async () => {
      await using server = await presageWithRawUpstream(({ socket, number }) =>
        setTimeout(() => {
          socket.write(inOnePiece(`${number}`));
          setTimeout(() => socket.write(inOnePiece(stolen)), lateMs);
        }, 10),
      );
      const contents = await askInTurn(() => server.predict(), 50, 0);
      expect(contents).toEqual(contents.map((_, index) => `${index + 1}`));
    }, 300_000);
  }

  test("without kept-alive connections a second response goes to no one, even while others wait", async () => {
    const connections = new Set<Socket>();
    await using server = await presageWithRawUpstream(
      ({ socket }) => {
        connections.add(socket);
        setTimeout(() => socket.write(inOnePiece("Open.")), 10);
        setTimeout(() => socket.write(inOnePiece(stolen)), 15);
      },
      { PRESAGE_UPSTREAM_KEEP_ALIVE: "false" },
    );
    const callers = Array.from({ length: 4 }, () => askInTurn(() => server.predict(), 25, 0));
    expect((await Promise.all(callers)).flat()).toEqual(["Open.", "Open.", "Open.", "Open."]);
    expect(connections.size).toBe(100);
  }, 300_000);
});
