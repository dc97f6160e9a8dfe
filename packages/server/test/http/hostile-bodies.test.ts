import { beforeEach, expect, test } from "bun:test";
import { errorBody } from "../support/presage/error-body.ts";
import { testKey } from "../support/presage/presage.ts";
import { prediction } from "../support/presage/presage-with-raw-upstream.ts";
import { openRawClient } from "../support/presage/raw-client.ts";
import { usePresage } from "../support/presage/use-presage.ts";
import { useUpstream } from "../support/upstream/use-upstream.ts";

const paths = ["/v1/predict", "/v1/chat/completions", "/v1/api-keys"];
const mebibyte = 1024 * 1024;

const upstream = useUpstream();
const presage = usePresage({ PRESAGE_UPSTREAM_URL: upstream.url });
beforeEach(() => {
  upstream.received.length = 0;
});

async function expectAlive(): Promise<void> {
  expect((await presage.call("POST", "/v1/predict", prediction)).status).toBe(200);
}

/** Only predictions allow long bodies; other routes allow one megabyte. */
const tooLarge = (path: string) => ({
  detail: `The request body is larger than ${path === "/v1/api-keys" ? mebibyte : 16 * mebibyte} bytes.`,
});

function inChunks(bytes: number): ReadableStream<Uint8Array> {
  let left = bytes;
  return new ReadableStream({
    pull(controller) {
      controller.enqueue(new Uint8Array(Math.min(left, mebibyte)).fill(32));
      left -= mebibyte;
      if (left <= 0) controller.close();
    },
  });
}

for (const path of paths) {
  test(`${path} rejects a body of 0 bytes`, async () => {
    for (const body of ["", undefined]) {
      const response = await presage.call("POST", path, body);
      expect(response.status).toBe(422);
      expect(await response.json()).toMatchObject({ detail: [{ type: "missing", loc: ["body"] }] });
    }
    await expectAlive();
  });

  test(`${path} rejects a body of 17 MB, declared or chunked, with its own error`, async () => {
    for (const body of [new Uint8Array(17 * mebibyte).fill(32), inChunks(17 * mebibyte)]) {
      const response = await presage.call("POST", path, body);
      expect(response.status).toBe(413);
      expect(await errorBody(response)).toStrictEqual(tooLarge(path));
    }
    await expectAlive();
  });

  test(`${path} rejects a body that is not UTF-8`, async () => {
    const response = await presage.call("POST", path, Buffer.from('{"name":"caf\xe9"}', "latin1"));
    expect(response.status).toBe(422);
    expect(await response.json()).toMatchObject({ detail: [{ type: "json_invalid", loc: ["body", 0] }] });
    await expectAlive();
  });

  for (const [what, body] of [
    ["lists", "[".repeat(10_000) + "]".repeat(10_000)],
    ["objects", `${'{"a":'.repeat(10_000)}1${"}".repeat(10_000)}`],
    ["lists in an unknown field", `{"name":"x","deep":${"[".repeat(10_000)}${"]".repeat(10_000)}}`],
    ["unclosed lists", "[".repeat(1_000_000)],
  ] as const) {
    test(`${path} rejects ${what} nested 10,000 deep and more`, async () => {
      const response = await presage.call("POST", path, body);
      expect(response.status).toBe(422);
      expect(await response.json()).toMatchObject({ detail: [{ type: "json_invalid" }] });
      await expectAlive();
    });
  }
}

test("a body declared as 17 MB is rejected before it arrives", async () => {
  const client = await openRawClient(presage.url);
  client.socket.write(
    `POST /v1/predict HTTP/1.1\r\nhost: presage\r\nx-api-key: ${testKey}\r\ncontent-length: ${17 * mebibyte}\r\n\r\n{`,
  );
  const response = await client.answer();
  expect(response.status).toBe(413);
  expect(JSON.parse(response.body)).toStrictEqual(tooLarge("/v1/predict"));
  client.socket.destroy();
  await expectAlive();
});

test("an endless chunked body is rejected at 16 MB", async () => {
  let sent = 0;
  const endless = new ReadableStream<Uint8Array>({
    pull(controller) {
      sent += mebibyte;
      controller.enqueue(new Uint8Array(mebibyte).fill(32));
    },
  });
  const response = await presage.call("POST", "/v1/predict", endless).catch(() => undefined);
  // A client that keeps sending may see the connection closed instead of the response.
  if (response !== undefined) expect(response.status).toBe(413);
  expect(sent).toBeLessThan(256 * mebibyte);
  await expectAlive();
}, 300_000);

test("a body of exactly 16 MB is read", async () => {
  const text = JSON.stringify(prediction);
  const body = text.slice(0, -1) + " ".repeat(16 * mebibyte - text.length) + text.slice(-1);
  expect((await presage.call("POST", "/v1/predict", body)).status).toBe(200);
  expect((await presage.call("POST", "/v1/predict", `${body} `)).status).toBe(413);
});

test("of a duplicate JSON key the last one counts, and only that is sent upstream", async () => {
  const body = '{"messages":[],"messages":[{"role":"user","content":"last"}],"seed":1,"seed":2}';
  expect((await presage.call("POST", "/v1/chat/completions", body)).status).toBe(200);
  expect(upstream.received[0]?.body.messages).toStrictEqual([{ role: "user", content: "last" }]);
  expect(upstream.received[0]?.body.seed).toBe(2);
});

test("JSON keys such as __proto__ affect only their own request", async () => {
  const evil = '"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}},"toString":1';
  const [message, interaction] = [
    `{"role":"user","content":"hi",${evil}}`,
    JSON.stringify(prediction.interaction),
  ];
  for (const [path, body, expected] of [
    ["/v1/chat/completions", `{"messages":[${message}],${evil}}`, [200]],
    ["/v1/chat/completions", `{"interaction":${interaction},"params":{${evil}}}`, [200]],
    ["/v1/predict", `{"interaction":${interaction},"params":{${evil}}}`, [200, 422]],
    ["/v1/predict", `{"interaction":${interaction},"context":{${evil}},${evil}}`, [200, 422]],
    ["/v1/api-keys", `{"name":"x",${evil}}`, [201, 422]],
    ["/v1/api-keys", `{"__proto__":{"name":"x"}}`, [422]],
    ["/v1/chat/completions", `{"__proto__":{"messages":[${message}]}}`, [422]],
  ] as [path: string, body: string, expected: number[]][]) {
    const response = await presage.call("POST", path, body);
    expect(expected).toContain(response.status);
  }
  expect(Object.hasOwn(Object.prototype, "polluted")).toBe(false);
  await expectAlive();
  const last = upstream.received.at(-1);
  expect(last?.text).not.toContain("polluted");
});

test("the rest of a rejected body is not read as further requests", async () => {
  const text = JSON.stringify(prediction);
  const request = `POST /v1/predict HTTP/1.1\r\nhost: a\r\nx-api-key: ${testKey}\r\ncontent-length: ${text.length}\r\n\r\n${text}`;
  const body = request.repeat(Math.ceil((17 * mebibyte) / request.length));
  const head = `POST /v1/predict HTTP/1.1\r\nhost: a\r\nx-api-key: ${testKey}\r\n`;
  for (const framed of [
    `${head}content-length: ${body.length}\r\n\r\n${body}`,
    `${head}transfer-encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`,
  ]) {
    const client = await openRawClient(presage.url);
    client.socket.write(framed);
    expect((await client.answer()).status).toBe(413);
    // Either the connection is closed or the next response belongs to the next request.
    const next = await client.send("GET", "/health").then(
      ({ status }) => status,
      () => "closed",
    );
    expect([200, "closed"]).toContain(next);
    client.socket.destroy();
  }
  expect(upstream.received).toHaveLength(0);
  await expectAlive();
});

test("invalid or oversized HTTP is rejected, and the server keeps running", async () => {
  for (const text of [
    "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    "GET / HTTP/9.9\r\n\r\n",
    `GET / HTTP/1.1\r\nhost: a\r\nx-large: ${"x".repeat(mebibyte)}\r\n\r\n`,
    "POST /v1/predict HTTP/1.1\r\nhost: a\r\ncontent-length: -1\r\n\r\n",
    "POST /v1/predict HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
  ]) {
    const client = await openRawClient(presage.url);
    client.socket.write(text);
    const status = await Promise.race([
      client.answer().then(
        (answer) => answer.status,
        () => "closed",
      ),
      Bun.sleep(200).then(() => "still open"),
    ]);
    expect(status).not.toBe(200);
    client.socket.destroy();
    await expectAlive();
  }
});
