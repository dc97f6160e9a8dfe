import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { Episode } from "@presage/contract";
import { testKey } from "../../support/presage/presage.ts";
import { usePresage } from "../../support/presage/use-presage.ts";
import { pythonEnvironment } from "../../support/python/python-environment.ts";
import { onAnyDatabase } from "../../support/store/databases.ts";
import { completion } from "../../support/upstream/upstream.ts";
import { useUpstream } from "../../support/upstream/use-upstream.ts";

const python = await pythonEnvironment(["ors-sdk==0.1.0"]);
const episodes = 200;

interface Played {
  id: string;
  observations: string[];
  rewards: (number | null)[];
  finished: boolean[];
}

async function run(script: string, ...options: string[]): Promise<string> {
  const child = Bun.spawn([python ?? "", join(import.meta.dir, script), ...options], {
    env: { PATH: process.env.PATH ?? "" },
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  expect([await child.exited, stderr.slice(-2_000)]).toEqual([0, ""]);
  return stdout;
}

describe.skipIf(python === undefined)("The public client of the Open Reward Standard", () => {
  onAnyDatabase((database) => {
    const presage = usePresage({ database });

    test("plays 200 whole episodes at once with nothing but the address and a key", async () => {
      const stdout = await run("ors-sdk.fixture.py", presage.url, testKey, String(episodes));
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

  onAnyDatabase((database) => {
    const upstream = useUpstream();
    const presage = usePresage({ database, PRESAGE_UPSTREAM_URL: upstream.url });

    // The client strips leading white space from whatever it is sent.
    test("gets an observation of 100 KB as it is, whatever white space it has", async () => {
      const text = ` \n\t${" ".repeat(9_000)}${"\n".repeat(9_000)}\u2003\u0085${"🙂\u3000".repeat(9_000)}${"\\ ".repeat(27_000)}`;
      upstream.answer = () => Response.json(completion(text));
      const seen = JSON.parse(await run("ors-observation.fixture.py", presage.url, testKey)) as string[];
      expect(seen.map((each) => each === text)).toEqual([true, true]);
    });
  });
});
