import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { Episode } from "@presage/contract";
import { testKey } from "../support/presage/presage.ts";
import { usePresage } from "../support/presage/use-presage.ts";
import { pythonEnvironment } from "../support/python/python-environment.ts";
import { onSqlite } from "../support/store/databases.ts";

const script = join(import.meta.dir, "ors-sdk.fixture.py");
const python = await pythonEnvironment(["ors-sdk==0.1.0"]);
const episodes = 200;

interface Played {
  id: string;
  observations: string[];
  rewards: (number | null)[];
  finished: boolean[];
}

describe.skipIf(python === undefined)("The public client of the Open Reward Standard", () => {
  onSqlite((database) => {
    const presage = usePresage({ database });

    test("plays 200 whole episodes at once with nothing but the address and a key", async () => {
      const child = Bun.spawn([python ?? "", script, presage.url, testKey, String(episodes)], {
        env: { PATH: process.env.PATH ?? "" },
        stdout: "pipe",
        stderr: "pipe",
      });
      const [stdout, stderr] = await Promise.all([
        new Response(child.stdout).text(),
        new Response(child.stderr).text(),
      ]);
      expect([await child.exited, stderr.slice(-2_000)]).toEqual([0, ""]);
      const { asked, played } = JSON.parse(stdout) as { asked: unknown; played: Played[] };
      expect(asked).toEqual({
        splits: ["train", "test"],
        tasks: 16,
        num_tasks: 4,
        range: [14, 15],
        tools: ["act"],
        reward: 1,
        finished: true,
        refusal: expect.stringContaining('"fly" is not a valid tool'),
      });
      expect(played).toHaveLength(episodes);
      for (const { rewards, finished } of played) {
        expect(rewards).toEqual([null, null, 1]);
        expect(finished).toEqual([false, false, true]);
      }
      for (const { id, observations } of played.slice(0, 20)) {
        const response = await presage.call("GET", `/v1/episodes/${id}`);
        const { steps } = Episode.parse(await response.json());
        expect(steps.map(({ observation }) => observation)).toEqual(observations);
      }
    });
  });
});
