import { afterAll, describe, expect, test } from "bun:test";
import { eventually } from "../../server/test/support/eventually.ts";
import { startRawUpstream } from "../../server/test/support/upstream/raw-upstream.ts";
import { createPresage } from "../src/create-presage.ts";
import { caught, reasonOf } from "./support/caught.ts";
import { json, startScriptedServer } from "./support/scripted-server.ts";

const server = startScriptedServer();
const presage = createPresage({ baseUrl: server.url, apiKey: "a-key" });
afterAll(() => server.stop());

async function take(lines: AsyncIterable<string>, into: string[] = []): Promise<string[]> {
  for await (const line of lines) into.push(line);
  return into;
}

/** A chunked response that is cut off after `parts`, once the client has two lines of it. */
function startBreaking(parts: string[], lines: readonly string[]) {
  return startRawUpstream(async ({ socket }) => {
    socket.write("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n");
    for (const part of parts) {
      socket.write(`${Buffer.byteLength(part).toString(16)}\r\n${part}\r\n`);
      await Bun.sleep(50);
    }
    await eventually(
      () => lines.length,
      (count) => count === 2,
    );
    socket.destroy();
  });
}

describe("an export", () => {
  test("yields lines, however the response is split into chunks", async () => {
    const text = `{"a":"好 🙂"}\n{"b":2}\r\n\n{"c":"${"x".repeat(300_000)}"}\n`;
    const bytes = new TextEncoder().encode(text);
    server.script(
      () =>
        new Response(
          new ReadableStream({
            async start(controller) {
              const cuts = [0, 7, 8, 10, 13, 20, 21, 70_000, bytes.length];
              for (const [index, cut] of cuts.slice(1).entries()) {
                controller.enqueue(bytes.slice(cuts[index], cut));
                await Bun.sleep(5);
              }
              controller.close();
            },
          }),
        ),
    );
    expect(await take(presage.results.exportLines())).toEqual(text.split("\n").slice(0, -1));
  });

  test("without results has no lines", async () => {
    server.script(() => new Response(""));
    expect(await take(presage.results.exportLines())).toEqual([]);
  });

  test("sends its filters in the query", async () => {
    server.script(() => new Response(""));
    await take(
      presage.results.exportLines({
        app: "a&b",
        pass: false,
        score_raw_min: 0,
        tags: { env: "prod" },
        status: null,
        after_id: "12",
        order: "created_at",
        format: "csv",
      }),
    );
    const query = new URLSearchParams(server.received[0]?.target.split("?")[1]);
    expect(Object.fromEntries(query)).toEqual({
      app: "a&b",
      pass: "false",
      score_raw_min: "0",
      tags: '{"env":"prod"}',
      after_id: "12",
      order: "created_at",
      format: "csv",
    });
  });

  test.each([
    ["between two lines", ['{"a":1}\n', '{"b":2}\n']],
    ["in the middle of a line", ['{"a":1}\n{"b":2}\n', '{"c"']],
  ])("that is broken off %s throws after what had come", async (_where, parts) => {
    const lines: string[] = [];
    const raw = await startBreaking(parts, lines);
    const error = await caught(take(createPresage({ baseUrl: raw.url }).results.exportLines(), lines));
    expect(error).toMatchObject({
      category: "connection",
      status: 200,
      message: expect.stringMatching(/^The response from http:\S+ was cut off\.$/),
    });
    expect(lines).toEqual(['{"a":1}', '{"b":2}']);
    expect(raw.received).toHaveLength(1);
    await raw.stop();
  });

  test("whose last line is incomplete throws, even if the response ended properly", async () => {
    server.script(() => new Response('{"a":1}\n{"b":'));
    const lines: string[] = [];
    expect((await caught(take(presage.results.exportLines(), lines))).category).toBe("connection");
    expect(lines).toEqual(['{"a":1}']);
  });

  test("that is refused throws, and one that gets a 503 is retried", async () => {
    server.script(json({ detail: "Who are you?" }, 401));
    expect((await caught(take(presage.results.exportLines()))).category).toBe("unauthenticated");
    server.script(json({}, 503, { "retry-after": "0" }), () => new Response("{}\n"));
    expect(await take(presage.results.exportLines())).toEqual(["{}"]);
  });

  test("that stalls times out; one that is read slowly does not", async () => {
    const stalling = () =>
      new Response(
        new ReadableStream({
          start: (controller) => controller.enqueue(new TextEncoder().encode("1\n")),
          pull: () => new Promise(() => {}),
        }),
      );
    server.script(stalling);
    expect((await caught(take(presage.results.exportLines({}, { timeoutMs: 200 })))).category).toBe(
      "timeout",
    );

    const slowly = async () => {
      const lines: string[] = [];
      for await (const line of presage.results.exportLines({}, { timeoutMs: 300 })) {
        // Longer than the time-out, once, because the reader's pause is what is tested.
        if (lines.length === 0) await Bun.sleep(350);
        lines.push(line);
      }
      return lines;
    };
    server.script(
      () =>
        new Response(
          new ReadableStream({
            async pull(controller) {
              controller.enqueue(new TextEncoder().encode("1\n2\n"));
              await Bun.sleep(20);
              controller.enqueue(new TextEncoder().encode("3\n"));
              controller.close();
            },
          }),
        ),
    );
    expect(await slowly()).toEqual(["1", "2", "3"]);
  });

  test("ends with the caller's signal, and disconnects when its reader stops", async () => {
    let isHungUp = false;
    const endless = () =>
      new Response(
        new ReadableStream({
          async pull(controller) {
            await Bun.sleep(20);
            controller.enqueue(new TextEncoder().encode("line\n"));
          },
          cancel: () => {
            isHungUp = true;
          },
        }),
      );
    server.script(endless);
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 150);
    const reason = await reasonOf(take(presage.results.exportLines({}, { signal: controller.signal })));
    expect(reason).toMatchObject({ name: "AbortError" });

    isHungUp = false;
    server.script(endless);
    for await (const line of presage.results.exportLines()) {
      expect(line).toBe("line");
      break;
    }
    const lastAtMs = performance.now() + 10_000;
    while (!isHungUp && performance.now() < lastAtMs) await Bun.sleep(20);
    expect(isHungUp).toBe(true);
  });
});
