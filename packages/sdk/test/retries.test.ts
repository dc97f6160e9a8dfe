import { afterAll, describe, expect, test } from "bun:test";
import { httpResponse, startRawUpstream } from "../../server/test/support/upstream/raw-upstream.ts";
import { createPresage } from "../src/create-presage.ts";
import { caught } from "./support/caught.ts";
import { json, type Responder, startScriptedServer } from "./support/scripted-server.ts";

const server = startScriptedServer();
const presage = createPresage({ baseUrl: server.url, apiKey: "a-key" });
afterAll(() => server.stop());

const busy = (status: number, retryAfter?: string, more: Record<string, string> = {}): Responder =>
  json(
    { detail: "Later." },
    status,
    retryAfter === undefined ? more : { "retry-after": retryAfter, ...more },
  );
const found = json({ apps: [{ name: "a" }] });
const gapsMs = () =>
  server.received.slice(1).map(({ atMs }, index) => atMs - (server.received[index]?.atMs ?? 0));

describe("a call is retried", () => {
  test.each([429, 503])("after %d, until it succeeds", async (status) => {
    server.script(busy(status, "0"), busy(status, "0"), found);
    expect(await presage.apps.list()).toEqual([{ name: "a" }]);
    expect(server.received).toHaveLength(3);
  });

  test("at most as often as configured for the client or the call", async () => {
    server.script(busy(503, "0"));
    expect((await caught(presage.apps.list())).category).toBe("unavailable");
    expect(server.received).toHaveLength(3);
    server.script(busy(503, "0"));
    await caught(presage.apps.list({ retries: 4 }));
    expect(server.received).toHaveLength(5);
    server.script(busy(503, "0"));
    await caught(presage.apps.list({ retries: 0 }));
    expect(server.received).toHaveLength(1);
  });

  test("not before the seconds of Retry-After have passed", async () => {
    server.script(busy(429, "1"), found);
    await presage.apps.list();
    expect(gapsMs()[0]).toBeGreaterThanOrEqual(990);
    expect(gapsMs()[0]).toBeLessThan(30_000);
  });

  test("not before the date of Retry-After by the server's own clock", async () => {
    const clock = { date: "Wed, 21 Oct 2015 07:28:00 GMT" };
    server.script(busy(503, "Wed, 21 Oct 2015 07:28:01 GMT", clock), found);
    await presage.apps.list();
    expect(gapsMs()[0]).toBeGreaterThanOrEqual(990);
    expect(gapsMs()[0]).toBeLessThan(30_000);
  });

  test("after a growing pause of its own if the server names none", async () => {
    server.script(busy(503), busy(503), found);
    await presage.apps.list();
    const [first = 0, second = 0] = gapsMs();
    expect(first).toBeGreaterThanOrEqual(240);
    expect(second).toBeGreaterThanOrEqual(490);
  });

  test("not if the wait would exceed the time limit: the error comes at once, with the wait", async () => {
    server.script(busy(429, "3600"));
    const startedAtMs = performance.now();
    const error = await caught(presage.apps.list());
    expect(error).toMatchObject({ category: "rate_limit", retryAfterMs: 3_600_000 });
    expect(performance.now() - startedAtMs).toBeLessThan(30_000);
    expect(server.received).toHaveLength(1);
  });

  test("not if the server wants a pause of over a minute, however much time there is", async () => {
    server.script(busy(429, "61"));
    const error = await caught(presage.apps.list({ timeoutMs: 3_600_000 }));
    expect(error).toMatchObject({ category: "rate_limit", retryAfterMs: 61_000 });
    expect(server.received).toHaveLength(1);
  });

  test.each([400, 401, 403, 404, 409, 413, 422, 500, 502, 504])("never after %d", async (status) => {
    server.script(busy(status, "0"));
    await caught(presage.apps.list());
    expect(server.received).toHaveLength(1);
  });

  test("with the same Idempotency-Key if it evaluates, and the next call has another", async () => {
    const evaluated = json({ results: [] });
    server.script(busy(503, "0"), busy(429, "0"), evaluated);
    await presage.evaluate({ evaluated_model_output: "a" });
    await presage.evaluate({ evaluated_model_output: "a" });
    const keys = server.received.map(({ headers }) => headers.get("idempotency-key"));
    expect(keys[0]).toMatch(/^[0-9a-f]{32}$/);
    expect(keys.slice(0, 3)).toEqual([keys[0] ?? "", keys[0] ?? "", keys[0] ?? ""]);
    expect(keys[3]).not.toBe(keys[0]);
    await presage.evaluate({ evaluated_model_output: "a" }, { idempotencyKey: "mine" });
    expect(server.received.at(-1)?.headers.get("idempotency-key")).toBe("mine");
  });

  test("with its whole body, also if it creates something and the server sent Retry-After", async () => {
    const profile = { evaluator_family: "regex", name: "digits — 好 🙂", config: { pattern: "\\d+" } };
    server.script(busy(503, "0"), json({ evaluator_profile: profile }, 201));
    await presage.profiles.create(profile);
    expect(server.received.map(({ body }) => body)).toEqual([profile, profile]);
  });

  test("not with a stream, which can be sent only once: the error is the server's own", async () => {
    server.script(busy(429, "0"));
    const error = await caught(presage.datasets.upload("d", new Blob(["{}\n"]).stream()));
    expect(error).toMatchObject({ status: 429, message: expect.stringContaining("Later.") });
    expect(server.received).toHaveLength(1);
  });
});

describe("after a failed connection", () => {
  const ok = httpResponse(200, { evaluator_profile: {}, apps: [] });
  const cutOff = "HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n{";

  async function countCalls(
    firstResponse: string,
    call: (presage: ReturnType<typeof createPresage>) => Promise<unknown>,
  ) {
    const raw = await startRawUpstream(({ socket, number }) => {
      if (number > 1) return void socket.end(ok);
      socket.write(firstResponse);
      setTimeout(() => socket.destroy(), 50);
    });
    try {
      const succeeded = await call(createPresage({ baseUrl: raw.url })).then(
        () => true,
        () => false,
      );
      return { succeeded, calls: raw.received.length };
    } finally {
      await raw.stop();
    }
  }

  const create = (client: ReturnType<typeof createPresage>) =>
    client.profiles.create({ name: "a", config: {} });
  const signOut = (client: ReturnType<typeof createPresage>) => client.signOut();
  const read = (client: ReturnType<typeof createPresage>) => client.apps.list();

  test.each([
    ["only reads", read],
    ["creates, under a key", create],
  ])("a call that %s is retried, even if its response had begun", async (_, call) => {
    expect(await countCalls("", call)).toEqual({ succeeded: true, calls: 2 });
    expect(await countCalls(cutOff, call)).toEqual({ succeeded: true, calls: 2 });
  });

  test("a call that cannot be repeated is not retried: it may have taken effect", async () => {
    expect(await countCalls("", signOut)).toEqual({ succeeded: false, calls: 1 });
    expect(await countCalls(cutOff, signOut)).toEqual({ succeeded: false, calls: 1 });
  });
});
