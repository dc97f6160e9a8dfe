import { expect, test } from "bun:test";
import { openEnvPath, openEnvSocket } from "../../support/openenv/openenv-socket.ts";
import { testKey } from "../../support/presage/presage.ts";
import { usePresage } from "../../support/presage/use-presage.ts";
import { apiKeyClient } from "../../support/resources/api-keys.ts";

const presage = usePresage();
const keys = apiKeyClient(() => presage);
const basic = (password: string, user = "any") => ({
  authorization: `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`,
});
const connect = (headers: Record<string, string>) => openEnvSocket(presage.url, "sandbox", headers);
const upgrade = {
  connection: "Upgrade",
  upgrade: "websocket",
  "sec-websocket-version": "13",
  "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
};

test("the key may be in either header or a password, whoever the user is said to be", async () => {
  for (const headers of [
    { "x-api-key": testKey },
    { authorization: `Bearer ${testKey}` },
    basic(testKey),
    basic(testKey, ""),
    { ...basic(testKey), "x-api-key": testKey },
  ]) {
    const { status } = await presage.call("GET", `${openEnvPath("sandbox")}/health`, undefined, headers);
    expect(status).toBe(200);
    const socket = await connect(headers);
    expect((await socket.reset()).type).toBe("observation");
    socket.close();
  }
  const anywhereElse = await presage.call("GET", "/v1/environments", undefined, basic(testKey));
  expect(anywhereElse.status).toBe(401);
});

test("without one right key it is 401, and nobody is asked for a password", async () => {
  for (const headers of [
    {},
    basic(""),
    basic("wrong-key-wrong-key-wrong-key-000"),
    { authorization: "Basic !!!" },
    { authorization: `Basic ${Buffer.from(testKey).toString("base64")}` },
    { ...basic(testKey), "x-api-key": "another-key-another-key-another-0" },
    { cookie: "presage_session=x" },
  ]) {
    for (const path of ["schema", "health", "metadata", "ws"]) {
      const given: Record<string, string> = { ...headers, ...(path === "ws" ? upgrade : {}) };
      const response = await presage.call("GET", `${openEnvPath("sandbox")}/${path}`, undefined, given);
      expect([path, response.status]).toEqual([path, 401]);
      expect(response.headers.get("www-authenticate")).toBe(null);
    }
  }
});

test("requests of web pages are 403", async () => {
  const headers = { "x-api-key": testKey, origin: presage.url };
  for (const path of ["schema", "health", "metadata"]) {
    const response = await presage.call("GET", `${openEnvPath("sandbox")}/${path}`, undefined, headers);
    expect([path, response.status]).toEqual([path, 403]);
  }
  const handshake = await presage.call("GET", `${openEnvPath("sandbox")}/ws`, undefined, {
    ...headers,
    ...upgrade,
  });
  expect(handshake.status).toBe(403);
});

test("a revoked key ends its sockets at their next message", async () => {
  const { id, key } = await keys.create("to be revoked");
  const socket = await connect(basic(key));
  await socket.reset();
  expect(await keys.revoke(id)).toBe(204);
  expect(await socket.step("look around")).toMatchObject({ type: "error", data: { code: "SESSION_ERROR" } });
  expect(await socket.closed).toMatchObject({ code: 1008 });
});

test("steps beyond a key's limit of concurrent requests wait for their turn", async () => {
  const created = await presage.call("POST", "/v1/api-keys", { name: "narrow", max_in_flight: 1 });
  const { key } = (await created.json()) as { key: string };
  const sockets = await Promise.all(Array.from({ length: 4 }, () => connect(basic(key))));
  await Promise.all(sockets.map((socket) => socket.reset()));
  const steps = await Promise.all(sockets.map((socket) => socket.step("look around")));
  expect(steps.map(({ type }) => type)).toEqual(steps.map(() => "observation"));
  for (const socket of sockets) socket.close();
}, 60_000);

test("a rate holds for steps: one that would have to wait too long is refused", async () => {
  const created = await presage.call("POST", "/v1/api-keys", { name: "slow", rate_limit_rpm: 1 });
  const { key } = (await created.json()) as { key: string };
  const socket = await connect(basic(key));
  await socket.reset();
  expect((await socket.step("look around")).type).toBe("observation");
  expect((await socket.step("look around")).data).toMatchObject({
    code: "EXECUTION_ERROR",
    message: expect.stringContaining("per minute"),
  });
  expect((await socket.ask({ type: "state" })).data.step_count).toBe(1);
  socket.close();
});
