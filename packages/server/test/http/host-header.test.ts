import { afterAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ErrorResponse } from "@presage/contract";
import { testKey } from "../support/presage/presage.ts";
import { openRawClient } from "../support/presage/raw-client.ts";
import { spawnPresage } from "../support/presage/spawn-presage.ts";

const directory = await mkdtemp(join(tmpdir(), "presage-host-"));
afterAll(() => rm(directory, { recursive: true }));

const malformed = ["", "[", "a b", "x:99999", "x:abc", "%", "a/b", "a?b", "user@x", "<>", "1.2.3.4.5"];
const key = `x-api-key: ${testKey}\r\n`;
const browser = "sec-fetch-mode: navigate\r\n";

/** Every kind of route that uses the request's own address. */
const requests = [
  ["a query", `GET /v1/evaluator-profiles?limit=1 HTTP/1.1\r\n${key}`],
  ["a query of usage", `GET /v1/usage?step=day HTTP/1.1\r\n${key}`],
  ["a page without a session", `GET / HTTP/1.1\r\n${browser}`],
  ["an address without a page", `GET /nowhere HTTP/1.1\r\n${browser}`],
] as const;

test("an invalid Host is 400 where the address is read, and not an unexpected error", async () => {
  await using presage = await spawnPresage({
    PRESAGE_DATABASE_URL: `sqlite:${join(directory, "presage.db")}`,
  });
  const ask = async (head: string) => {
    const client = await openRawClient(presage.url);
    client.socket.write(`${head}\r\n`);
    const response = await client.answer();
    client.socket.destroy();
    return response;
  };
  const statuses: [string, string, number][] = [];
  for (const [what, head] of requests) {
    for (const host of malformed) {
      const response = await ask(`${head}host: ${host}\r\n`);
      statuses.push([what, host, response.status]);
      if (head.includes(key)) expect(ErrorResponse.parse(JSON.parse(response.body)).detail).toContain("Host");
    }
    const withoutHost = await ask(head.replace("HTTP/1.1", "HTTP/1.0"));
    statuses.push([what, "none at all", withoutHost.status]);
  }
  const wrong = statuses.filter(([what, , status]) => status !== (what.startsWith("an address") ? 404 : 400));
  expect(wrong).toEqual([]);
  // The reference does not read the address.
  for (const host of malformed)
    expect((await ask(`GET /docs HTTP/1.1\r\nhost: ${host}\r\n`)).status).toBe(200);
  // Load balancers send such requests.
  expect((await ask("GET /health HTTP/1.0\r\n")).status).toBe(200);
  expect(
    (await ask(`GET /v1/evaluator-profiles?limit=1 HTTP/1.1\r\n${key}host: presage_server:8080\r\n`)).status,
  ).toBe(200);
  expect(await presage.stdout()).not.toContain("unexpected error");
  expect(await presage.stderr()).not.toContain("Error");
}, 300_000);
