import { afterAll, expect, test } from "bun:test";
import { createPresage } from "../src/create-presage.ts";
import { caught } from "./support/caught.ts";
import { json, startScriptedServer } from "./support/scripted-server.ts";

const server = startScriptedServer();
const presage = createPresage({ baseUrl: server.url, apiKey: "a-key", retries: 0 });
afterAll(() => server.stop());

const quick = { pollEveryMs: 1 };

test("waiting for a run outlasts a server that restarts", async () => {
  server.script(
    json({ status: "running" }),
    json({ detail: "starting" }, 503),
    json({ detail: "slower" }, 429),
    () => new Response("<html>Bad gateway</html>", { status: 502 }),
    json({ status: "cancelled" }),
  );
  expect(await presage.runs.waitUntilEnded("a/b", quick)).toMatchObject({ status: "cancelled" });
  expect(server.received.map(({ target }) => target)).toEqual(Array(5).fill("/v1/runs/a%2Fb"));
});

test("waiting ends with a server that stays away, with an error, and with what onProgress throws", async () => {
  server.script(json({ detail: "starting" }, 503));
  const away = presage.runs.waitUntilEnded("a", { ...quick, patienceMs: 20 });
  const unavailable = await caught(away);
  expect(unavailable.category).toBe("unavailable");
  server.script(json({ detail: "no" }, 404));
  expect((await caught(presage.runs.waitUntilEnded("a", quick))).category).toBe("not_found");
  server.script(json({ status: "paused" }));
  const onProgress = () => {
    throw unavailable;
  };
  await expect(presage.runs.waitUntilEnded("a", { ...quick, onProgress })).rejects.toBe(unavailable);
});

test("a prediction says what may come from the cache", async () => {
  server.script(json({}));
  const interaction = { state: "A door.", action: "open" };
  await presage.predict({ interaction }, { cacheControl: "max-age=60" });
  expect(server.received[0]?.headers.get("cache-control")).toBe("max-age=60");
});
