// `npm run check:reality`: how often success in simulation is success in ScienceWorld, for a world of its recorded transitions and for the
// sandbox. It installs ScienceWorld, which needs Java, and takes a quarter of an hour.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { RealityCheckDetail, RealityFigure } from "@presage/contract";
import { eventually } from "../packages/server/test/support/eventually.ts";
import { freePort } from "../packages/server/test/support/free-port.ts";
import { outputOf } from "../packages/server/test/support/keep-folder.ts";
import { startPresage } from "../packages/server/test/support/presage/presage.ts";
import { realPythons } from "../packages/server/test/support/reality/real-servers.ts";

const seed = 7;
/** The number of variations of each task for the world's records, and of others to play. */
const variations = 8;
const tasks = ["find-animal", "find-living-thing", "find-non-living-thing", "find-plant"];
/** The rule that a person would write after reading how such tasks end. */
const success = { output_matches: "^You move the .+ to the \\w+ box\\.$", outcome: "success" };

/** A trajectory as it happened in ScienceWorld. */
interface Trajectory {
  split: "train" | "test";
  policy: string;
  task: string;
  variation: number;
  about: string;
  first: string;
  steps: { action: string; observation: string; reward: number; done: boolean }[];
}

const python = await realPythons.openenv("scienceworld==1.2.3");
if (python === undefined || Bun.which("java") === null) {
  process.stdout.write(
    "This needs Java and Python (Debian: apt-get install default-jre-headless python3-venv).\n",
  );
  process.exit(1);
}
const example = join(import.meta.dir, "../examples/scienceworld");
const folder = await mkdtemp(join(tmpdir(), "presage-reality-"));
const began = Date.now();
const say = (text: string) =>
  process.stdout.write(`${Math.round((Date.now() - began) / 1_000)} s: ${text}\n`);

const collect = [
  "env",
  `PYTHONPATH=${example}`,
  "PYTHONDONTWRITEBYTECODE=1",
  python,
  join(import.meta.dir, "reality/collect.py"),
];
const collected = await Promise.all(
  tasks.map((task) => outputOf(...collect, String(seed), String(variations), task)),
);
const trajectories = collected.flatMap((text) => Bun.JSONL.parse(text) as Trajectory[]);
const recorded = trajectories.filter(({ split }) => split === "train");
const held = trajectories.filter(({ split }) => split === "test");
say(
  `${recorded.length} trajectories for the world, ${held.length} of other variations to play, seed ${seed}`,
);

const port = await freePort();
const simulator = Bun.spawn([python, join(example, "server.py"), String(port)], {
  stdout: "ignore",
  stderr: "inherit",
});
const isReady = () =>
  fetch(`http://127.0.0.1:${port}/health`).then(
    ({ ok }) => ok,
    () => simulator.exitCode !== null,
  );
process.on("exit", () => simulator.kill());
await eventually(isReady, (ready) => ready);
const settings = (await Bun.file(join(example, "real.yaml")).text()).replace(":8000", `:${port}`);
await Bun.write(join(folder, "real.yaml"), settings);
const presage = await startPresage({ PRESAGE_REAL_ENVIRONMENTS: join(folder, "real.yaml") });

async function call<Answer>(method: string, path: string, body?: unknown): Promise<Answer> {
  const response = await presage.call(method, path, body);
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return JSON.parse(text) as Answer;
}
const asLines = (values: unknown[]) => values.map((value) => JSON.stringify(value)).join("\n");

async function makeDataset(name: string, of: Trajectory[]): Promise<string> {
  const { id } = await call<{ id: string }>("POST", "/v1/datasets", { name });
  const samples = of.flatMap(({ task, variation, policy, about, first, steps }) =>
    steps.map(({ action, observation, reward, done }, index) => ({
      trajectory_id: `${task}/${variation}/${policy}`,
      step: index,
      context: { task_context: about },
      interaction: { state: steps[index - 1]?.observation ?? first, action },
      next_state: observation,
      reward,
      done,
      tags: { task: `${task}/${variation}` },
    })),
  );
  await call("POST", `/v1/datasets/${id}/revisions`, asLines(samples));
  return id;
}

/** Plays the actions from ScienceWorld, and then looks around until the episode is over. */
async function play(environment: string): Promise<void> {
  const places = [...new Set(held.map(placeOf))];
  const lines = places.map((place) => {
    const { task, variation, about, first } = held.find((one) => placeOf(one) === place) as Trajectory;
    const metadata = { task, variation };
    return { split: "test", initial_state: first, prompt: about, context: { task_context: about }, metadata };
  });
  await call("POST", `/v1/environments/${environment}/tasks`, asLines(lines));
  for (const one of held) {
    const wanted = { environment, split: "test", index: places.indexOf(placeOf(one)), policy: one.policy };
    const { episode_id: id } = await call<{ episode_id: string }>("POST", "/v1/episodes", wanted);
    for (let step = 0, over = false; !over; step += 1) {
      const action = one.steps[step]?.action ?? "look around";
      const path = `/v1/episodes/${id}/step`;
      const taken = await call<{ terminated: boolean; truncated: boolean }>("POST", path, { action });
      over = taken.terminated || taken.truncated;
    }
  }
}
const placeOf = ({ task, variation }: Trajectory) => `${task}/${variation}`;

async function check(environment: string, what: object): Promise<void> {
  const { id } = await call<{ id: string }>("POST", "/v1/reality-checks", { environment, ...what });
  let found: RealityCheckDetail;
  do {
    await Bun.sleep(1_000);
    found = await call<RealityCheckDetail>("GET", `/v1/reality-checks/${id}`);
  } while (found.status === "running");
  const { figures, status, episodes, failed, source } = found;
  const { divergence, exploits, policies, counts } = figures;
  say(`${environment}, ${source}: ${status}, ${episodes} episodes, ${failed} failed ${found.reason ?? ""}
  ${JSON.stringify(counts)}
  false successes ${inWords(figures.false_success_rate)}; missed ${inWords(figures.missed_success_rate)}; agreement ${inWords(figures.agreement)}
  divergence: median ${divergence?.median}; ${divergence?.sentence}
  exploits: ${exploits.sentence}`);
  for (const { policy, counts: own, false_success_rate } of policies)
    process.stdout.write(
      `  ${policy}: ${JSON.stringify(own)}, false successes ${inWords(false_success_rate)}\n`,
    );
}

function inWords({ value, interval, count, tasks: of, note }: RealityFigure): string {
  const range =
    interval === null ? `no interval: ${note}` : `${percent(interval.lower)} to ${percent(interval.upper)}`;
  return `${percent(value)} (${range}; ${count} of ${of} tasks)`;
}
function percent(share: number | null): string {
  return share === null ? "none" : `${(100 * share).toFixed(1)} %`;
}

const examples = { dataset: await makeDataset("recorded", recorded) };
await call("POST", "/v1/worlds", {
  name: "records",
  examples,
  model: { kind: "retrieval", answer: "adapted" },
});
const recordings = await makeDataset("held", held);
for (const [environment, player] of Object.entries({
  records: { world: "records" },
  plain: { prompt_form: "chat" },
})) {
  const rules = { stop: [success], guards: { repeat_limit: 3 }, real: { name: "scienceworld" } };
  await call("POST", "/v1/environments", { name: environment, ...player, ...rules });
  await play(environment);
  say(`${environment} has played ${held.length} episodes`);
  await check(environment, { episodes: {} });
  await check(environment, { dataset_id: recordings });
}
await presage.stop();
await rm(folder, { recursive: true });
process.exit(0);
