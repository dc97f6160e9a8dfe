import { expect, test } from "bun:test";
import { METHODS } from "node:http";
import { ErrorResponse } from "@presage/contract";
import { testKey } from "../support/presage/presage.ts";
import { openRawClient } from "../support/presage/raw-client.ts";
import { usePresage } from "../support/presage/use-presage.ts";

const presage = usePresage();

async function ask(method: string, path: string) {
  const client = await openRawClient(presage.url);
  const answer = await client
    .send(method, path, { "x-api-key": testKey, connection: "close" })
    .catch(() => "closed");
  client.socket.destroy();
  return answer;
}

test("every HTTP method gets 405 where a path does not support it, and 404 for an unknown path", async () => {
  const others = METHODS.filter((method) => !["GET", "HEAD", "POST"].includes(method));
  expect(others.length).toBeGreaterThan(25);
  for (const method of others) {
    const [there, nowhere] = [await ask(method, "/v1/api-keys"), await ask(method, "/nowhere")];
    if (typeof there === "string" || typeof nowhere === "string")
      throw new Error(`${method} was not answered`);
    expect([method, there.status, there.headers.get("allow")]).toEqual([method, 405, "GET, POST"]);
    expect(ErrorResponse.parse(JSON.parse(there.body)).detail).toBe("This path allows GET, POST.");
    expect([method, nowhere.status]).toEqual([method, 404]);
  }
});

// Bun closes such a connection before any code of a server sees the request (docs/operate/limits.md).
test("an unknown HTTP method is rejected, and does not block other requests", async () => {
  for (const method of ["get", "Post", "BREW", "X"]) {
    const answer = await ask(method, "/v1/api-keys");
    expect(typeof answer === "string" ? answer : answer.status).toBeOneOf(["closed", 400, 405, 501]);
    expect((await presage.call("GET", "/v1/api-keys")).status).toBe(200);
  }
});
