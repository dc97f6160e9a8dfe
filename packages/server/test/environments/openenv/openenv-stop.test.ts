import { expect, test } from "bun:test";
import { eventually } from "../../support/eventually.ts";
import { openEnvSocket } from "../../support/openenv/openenv-socket.ts";
import { testKey } from "../../support/presage/presage.ts";
import { spawnPresage } from "../../support/presage/spawn-presage.ts";
import { completion } from "../../support/upstream/upstream.ts";
import { useUpstream } from "../../support/upstream/use-upstream.ts";

const upstream = useUpstream();

test("a server that is stopped answers the step under way, and closes its sockets with 1001", async () => {
  await using presage = await spawnPresage({
    PRESAGE_UPSTREAM_URL: upstream.url,
    PRESAGE_DATABASE_URL: "sqlite::memory:",
  });
  const password = Buffer.from(`any:${testKey}`).toString("base64");
  const [idle, busy] = await Promise.all([
    openEnvSocket(presage.url, "sandbox", { authorization: `Basic ${password}` }),
    openEnvSocket(presage.url, "sandbox"),
  ]);
  await Promise.all([idle.reset(), busy.reset()]);
  const held = Promise.withResolvers<void>();
  upstream.answer = async () => {
    await held.promise;
    return Response.json(completion("seen"));
  };
  const step = busy.step("look");
  await eventually(
    () => upstream.received.length,
    (count) => count > 0,
  );
  presage.kill("SIGTERM");
  expect(await idle.closed).toMatchObject({ code: 1001 });
  held.resolve();
  expect((await step).data).toMatchObject({ observation: { prompt: "seen" } });
  expect(await busy.closed).toMatchObject({ code: 1001 });
  expect(await presage.exited).toBe(0);
  const output = (await presage.stdout()) + (await presage.stderr());
  expect(output).toContain('"method":"STEP"');
  expect(output).not.toContain(testKey);
  expect(output).not.toContain(password);
});
