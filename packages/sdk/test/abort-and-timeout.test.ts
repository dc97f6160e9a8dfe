import { afterAll, describe, expect, test } from "bun:test";
import { createPresage } from "../src/create-presage.ts";
import { caught, reasonOf } from "./support/caught.ts";
import { json, silence, startScriptedServer } from "./support/scripted-server.ts";

const server = startScriptedServer();
const presage = createPresage({ baseUrl: server.url, apiKey: "a-key" });
afterAll(() => server.stop());

const slowBody = () =>
  new Response(
    new ReadableStream({
      start: (controller) => controller.enqueue(new TextEncoder().encode("{")),
      pull: () => new Promise(() => {}),
    }),
  );

describe("the caller's signal", () => {
  test.each([
    ["before the response", silence],
    ["in the middle of the response", slowBody],
    ["in the pause before a retry", json({}, 503, { "retry-after": "60" })],
  ])("ends a call %s, with the signal's own reason", async (_when, response) => {
    server.script(response);
    const controller = new AbortController();
    const reason = new Error("enough");
    setTimeout(() => controller.abort(reason), 150);
    const startedAtMs = performance.now();
    expect(await reasonOf(presage.me({ signal: controller.signal }))).toBe(reason);
    expect(performance.now() - startedAtMs).toBeLessThan(30_000);
    expect(server.received).toHaveLength(1);
  });

  test("that is already aborted prevents the call", async () => {
    server.script(json({}));
    const reason = await reasonOf(presage.me({ signal: AbortSignal.abort() }));
    expect(reason).toMatchObject({ name: "AbortError" });
    expect(server.received).toHaveLength(0);
  });

  test("keeps no listener of a finished call", async () => {
    server.script(json({ id: "me" }));
    const { signal } = new AbortController();
    let listeners = 0;
    const add = signal.addEventListener.bind(signal);
    const remove = signal.removeEventListener.bind(signal);
    signal.addEventListener = (...given: Parameters<typeof add>) => {
      listeners += 1;
      add(...given);
    };
    signal.removeEventListener = (...given: Parameters<typeof remove>) => {
      listeners -= 1;
      remove(...given);
    };
    await presage.me({ signal });
    expect(listeners).toBe(0);
  });
});

describe("the time limit of a call", () => {
  test.each([
    ["there is no response", silence],
    ["the response does not end", slowBody],
  ])("ends it if %s", async (_what, response) => {
    server.script(response);
    const error = await caught(presage.me({ timeoutMs: 200 }));
    expect(error).toMatchObject({ category: "timeout", status: undefined });
    expect(error.message).toBe(`Presage at ${server.url} did not respond within 200 ms.`);
    expect(server.received).toHaveLength(1);
  });

  test("is the client's by default", async () => {
    server.script(silence);
    const hasty = createPresage({ baseUrl: server.url, timeoutMs: 150 });
    expect((await caught(hasty.me())).message).toContain("150 ms");
  });

  test("covers all retries together", async () => {
    server.script(json({}, 503, { "retry-after": "0" }), json({}, 503, { "retry-after": "0" }), silence);
    const startedAtMs = performance.now();
    expect((await caught(presage.me({ timeoutMs: 400 }))).category).toBe("timeout");
    expect(performance.now() - startedAtMs).toBeLessThan(30_000);
    expect(server.received).toHaveLength(3);
  });

  test("may be longer than any timer, or infinite", async () => {
    server.script(async () => {
      await Bun.sleep(100);
      return Response.json({ id: "me" });
    });
    for (const timeoutMs of [2 ** 40, Number.POSITIVE_INFINITY]) {
      expect((await presage.me({ timeoutMs })).id).toBe("me");
    }
  });
});
