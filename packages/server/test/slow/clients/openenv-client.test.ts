import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { openEnvPath } from "../../support/openenv/openenv-socket.ts";
import { testKey } from "../../support/presage/presage.ts";
import { usePresage } from "../../support/presage/use-presage.ts";
import { openEnvPython } from "../../support/python/openenv-python.ts";
import { onAnyDatabase } from "../../support/store/databases.ts";

const script = join(import.meta.dir, "openenv-client.fixture.py");
const python = await openEnvPython();
/** For a longer test: PRESAGE_TEST_EPISODES=1000. */
const episodes = Number(process.env.PRESAGE_TEST_EPISODES ?? 200);

describe.skipIf(python === undefined)("OpenEnv's public client", () => {
  onAnyDatabase((database) => {
    const presage = usePresage({ database });

    test(`plays ${episodes} episodes at once, some of whose sockets are cut, with nothing but an address`, async () => {
      const address = presage.url.replace("://", `://any:${testKey}@`) + openEnvPath("sandbox");
      const child = Bun.spawn([python ?? "", script, address, String(episodes)], {
        env: { PATH: process.env.PATH ?? "" },
        stdout: "pipe",
        stderr: "pipe",
      });
      const [stdout, stderr] = await Promise.all([
        new Response(child.stdout).text(),
        new Response(child.stderr).text(),
      ]);
      expect([await child.exited, stderr.slice(-2_000)]).toEqual([0, ""]);
      expect(JSON.parse(stdout)).toEqual({
        exchange: {
          title: "MessageAction",
          prompt: expect.stringContaining("Turn on the lantern."),
          reward: 1,
          done: true,
        },
        refusal: expect.stringContaining("EXECUTION_ERROR"),
        // Episodes that were cut in a step have one more.
        steps: Array.from({ length: episodes }, (_, number) => (number % 10 === 7 ? 3 : 2)),
      });
    });
  });
});
