import { describe, expect, test } from "bun:test";
import type { Socket } from "node:net";
import { brotliCompressSync } from "node:zlib";
import { ErrorResponse } from "@presage/contract";
import { errorBody } from "../support/presage/error-body.ts";
import { presageOver } from "../support/presage/presage-with-raw-upstream.ts";
import { upstreamClients } from "../support/upstream/as-replicas.ts";
import { goodResponse, httpResponse } from "../support/upstream/raw-upstream.ts";
import { completion } from "../support/upstream/upstream.ts";
import { slowTest } from "../support/whole-run.ts";

describe.each(upstreamClients)("over %s", (client) => {
  const presageWithRawUpstream = presageOver(client);

  const mebibyte = 1024 * 1024;
  const block = Buffer.alloc(mebibyte, " ");
  const chunk = Buffer.concat([Buffer.from(`${mebibyte.toString(16)}\r\n`), block, Buffer.from("\r\n")]);

  /** Writes endlessly, as fast as the other side reads; returns the count when the other side disconnects. */
  function writeWithoutEnd(
    socket: Socket,
    piece: Buffer,
    sent: { bytes: number; hungUp: Promise<void> },
  ): void {
    const { promise, resolve } = Promise.withResolvers<void>();
    sent.hungUp = promise;
    socket.on("close", () => resolve());
    const write = () => {
      while (!socket.destroyed) {
        sent.bytes += piece.length;
        if (!socket.write(piece)) {
          socket.once("drain", write);
          return;
        }
      }
    };
    write();
  }

  for (const [what, head, piece] of [
    ["of a declared length", `content-length: ${10_000 * mebibyte}`, block],
    ["in chunks", "transfer-encoding: chunked", chunk],
  ] as const) {
    test(`an endless response, ${what}, is 502 and is not read to the end`, async () => {
      const sent = { bytes: 0, hungUp: Promise.resolve() };
      await using server = await presageWithRawUpstream(({ socket }) => {
        socket.write(`HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n${head}\r\n\r\n`);
        writeWithoutEnd(socket, piece, sent);
      });
      for (const ask of [server.predict, server.chat]) {
        sent.bytes = 0;
        const response = await ask();
        expect(response.status).toBe(502);
        expect(await errorBody(response)).toStrictEqual({
          category: "upstream",
          detail: expect.any(String),
          upstream_status: 200,
        });
        await sent.hungUp;
        expect(sent.bytes).toBeLessThan(128 * mebibyte);
      }
      expect(server.upstream.received).toHaveLength(2);
    }, 300_000);
  }

  slowTest(
    "a response of 40 MB is forwarded in full",
    async () => {
      const content = "x".repeat(40 * mebibyte);
      await using server = await presageWithRawUpstream(({ socket }) =>
        socket.write(httpResponse(200, completion(content))),
      );
      const response = await server.chat();
      expect(response.status).toBe(200);
      expect((await response.arrayBuffer()).byteLength).toBe(JSON.stringify(completion(content)).length);
    },
    120_000,
  );

  slowTest("a compressed response is forwarded in full, and counts as long as it is then", async () => {
    const whole = completion("You hear “click”.");
    const bomb = completion(" ".repeat(65 * mebibyte));
    const bodies = [whole, bomb].map((body) => brotliCompressSync(JSON.stringify(body)));
    await using server = await presageWithRawUpstream(({ socket, number }) => {
      const body = bodies[number - 1] ?? Buffer.alloc(0);
      socket.write(httpResponse(200, "", { "content-length": body.length, "content-encoding": "br" }));
      socket.write(body);
    });
    const response = await server.chat();
    expect([response.status, response.headers.get("content-encoding")]).toEqual([200, null]);
    expect(await response.json()).toEqual(whole);
    expect((await server.chat()).status).toBe(502);
  });

  for (const [what, answer] of [
    ["no JSON", httpResponse(200, "<html>It works!</html>")],
    ["JSON that was cut off", httpResponse(200, '{"choices":[{"message":{"role":"assist')],
    ["empty", httpResponse(200, "")],
    ["a list", httpResponse(200, "[]")],
    ["null", httpResponse(200, "null")],
    ["without a choice", httpResponse(200, { ...completion("x"), choices: [] })],
    ["a 204", "HTTP/1.1 204 No Content\r\n\r\n"],
  ] as const) {
    test(`a response that is ${what} is 502 and not retried`, async () => {
      await using server = await presageWithRawUpstream(({ socket }) => socket.write(answer));
      for (const ask of [server.predict, server.chat]) {
        const response = await ask();
        expect(response.status).toBe(502);
        expect(await response.json()).toMatchObject({
          category: "upstream",
          upstream_status: expect.any(Number),
        });
      }
      expect(server.upstream.received).toHaveLength(2);
    });
  }

  test.each([
    ["not HTTP", "SSH-2.0-OpenSSH_9.6\r\n\r\n"],
    ["of a length and in chunks", httpResponse(200, "{}", { "transfer-encoding": "chunked" })],
    ["of a length that is none", httpResponse(200, "{}", { "content-length": -5 })],
  ])("a response that is %s is 502 without an upstream status and not retried", async (_, raw) => {
    await using server = await presageWithRawUpstream(({ socket }) => socket.end(raw));
    const response = await server.predict();
    expect(response.status).toBe(502);
    expect(await errorBody(response)).toStrictEqual({ category: "upstream", detail: expect.any(String) });
    expect(server.upstream.received).toHaveLength(1);
  });

  const credential = 'sk-upstream-"secret"/0123456789';
  const echoes = [
    ["as it is", credential],
    ["in JSON", JSON.stringify(`Incorrect API key provided: Bearer ${credential}.`)],
    ["in JSON with escaped slashes", JSON.stringify(credential).replaceAll("/", "\\/")],
    ["across the end of what is handed on", `${"x".repeat(4_096 - 20)}${credential}`],
  ] as const;

  for (const [how, echo] of echoes) {
    test(`the credential that the upstream echoes ${how} is removed from upstream_body`, async () => {
      await using server = await presageWithRawUpstream(
        ({ socket, number }) => socket.write(httpResponse(number === 1 ? 401 : 200, `{"message": ${echo}}`)),
        { PRESAGE_UPSTREAM_API_KEY: credential },
      );
      for (const upstreamStatus of [401, 200]) {
        const response = await server.predict();
        const answer = ErrorResponse.parse(await response.json());
        expect(response.status).toBe(502);
        expect(answer).toMatchObject({ category: "upstream", upstream_status: upstreamStatus });
        expect(answer.upstream_body).not.toMatch(/secret|0123456789|sk-up/);
        expect(answer.upstream_body).toContain(how.startsWith("across") ? "xxxx" : "[redacted]");
      }
      expect(server.upstream.received[0]?.head).toContain(`Bearer ${credential}`);
    });
  }

  for (const status of [301, 302, 303, 307, 308]) {
    test(`a redirect (${status}) is 502 and is not followed`, async () => {
      await using elsewhere = await presageWithRawUpstream(({ socket }) => socket.write(goodResponse));
      await using server = await presageWithRawUpstream(
        ({ socket }) =>
          socket.write(httpResponse(status, "", { location: `${elsewhere.upstream.url}/chat/completions` })),
        { PRESAGE_UPSTREAM_API_KEY: credential },
      );
      const response = await server.predict();
      expect(response.status).toBe(502);
      expect(await response.json()).toMatchObject({ category: "upstream", upstream_status: status });
      expect(server.upstream.received).toHaveLength(1);
      expect(elsewhere.upstream.received).toHaveLength(0);
    });
  }
});
