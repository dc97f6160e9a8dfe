// bun bench/episodes/prove-verifiers.ts: plays episodes with the OpenEnv task set of verifiers, unmodified and by its own command, and
// compares the rewards and everything the agent was shown with the server's histories. Needs Python 3.11 or newer with venv, and
// installs 1 GB of packages. Exits with 1 if anything differs.
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import type { Episode } from "@presage/contract";
import { pythonEnvironment } from "../../packages/server/test/support/python/python-environment.ts";
import { call, post, read } from "../lib/api.ts";
import { createProcessGroup, workDirectory } from "../lib/processes.ts";
import { type RunningPresage, startPresage } from "../lib/targets.ts";
import { startScriptedAgent, startWorld } from "./models.ts";

/** The extra of verifiers installs an older openenv, since the newest one needs another `mcp`. */
const verifiers = "verifiers[openenv]==0.4.0";
const tasks = 4;
const rollouts = 2;
/** A bare text, an action as JSON, and one in a fence, as models write them. */
const replies = ["look", '{"message": "take"}', '```json\n{"message": "open"}\n```'];
const actions = ["look", "take", "open"];

interface Trace {
  readonly errors: readonly unknown[];
  readonly rewards: Readonly<Record<string, { score: number } | undefined>>;
}

/** What the task set writes into each message to the agent. */
interface Shown {
  readonly observation: { prompt: string; metadata: { episode_id: string; step: number } };
}

const group = createProcessGroup();
const directory = join(workDirectory, "verifiers");

const run = async (argv: string[], env: Record<string, string> = {}): Promise<void> => {
  const { stdout, stderr, exitCode } = await group.runCommand({ argv, env });
  if (exitCode !== 0)
    throw new Error(`${argv.slice(0, 3).join(" ")}: ${exitCode}\n${(stdout + stderr).slice(-3_000)}`);
};

/** The programs of a new virtual environment with verifiers, and uv, which its harness calls. */
const install = async (): Promise<{ programs: string; path: string }> => {
  const python = await pythonEnvironment(["uv==0.13.9"]);
  if (python === undefined) throw new Error("There is no Python with venv.");
  const uv = join(python, "../uv");
  const environment = join(directory, "venv");
  await run([uv, "venv", "--quiet", "--python", python, environment]);
  const programs = join(environment, "bin");
  await run([uv, "pip", "install", "--quiet", "--python", join(programs, "python"), verifiers]);
  return { programs, path: `${programs}:${join(python, "..")}:${process.env.PATH}` };
};

const createEnvironment = async (presage: RunningPresage): Promise<void> => {
  const stop = [{ output_contains: "{goal}", outcome: "success" }];
  await post(presage, "/v1/environments", { name: "proof", stop });
  const task = JSON.stringify({ split: "train", initial_state: "A room.", goal: "open: answer" });
  await call(presage, "POST", "/v1/environments/proof/tasks", `${task}\n`.repeat(tasks));
};

const readTraces = async (): Promise<Trace[]> => {
  const [file = ""] = await Array.fromAsync(new Bun.Glob("outputs/*/traces.jsonl").scan(directory));
  const lines = (await Bun.file(join(directory, file)).text()).trim().split("\n");
  return lines.flatMap((line) => (JSON.parse(line) as { traces: Trace[] }).traces);
};

/** The ids of episodes whose history differs from what their agent was shown. */
const findDifferences = async (presage: RunningPresage, told: readonly string[]): Promise<string[]> => {
  const shown = Map.groupBy(
    told.map((text) => (JSON.parse(text) as Shown).observation),
    ({ metadata }) => metadata.episode_id,
  );
  const differing: string[] = [];
  for (const [id, observations] of shown) {
    const { steps, initial_state, outcome } = await read<Episode>(presage, `/v1/episodes/${id}`);
    const before = [initial_state, ...steps.slice(0, -1).map(({ observation }) => observation)];
    const isSame =
      outcome === "success" &&
      Bun.deepEquals(
        before,
        observations.map(({ prompt }) => prompt),
      ) &&
      Bun.deepEquals(
        steps.map(({ action }) => action),
        actions,
      );
    if (!isSame) differing.push(id);
  }
  return shown.size === tasks * rollouts ? differing : [...differing, `${shown.size} episodes`];
};

const prove = async (): Promise<boolean> => {
  const { programs, path } = await install();
  const world = startWorld(10);
  const agent = startScriptedAgent(replies);
  const database = `sqlite:${join(directory, "presage.db")}`;
  const presage = await startPresage(group, world.origin, "verifiers/server", database);
  await createEnvironment(presage);
  const address = presage.origin.replace("://", `://any:${presage.headers["x-api-key"]}@`);
  const resets = Array.from({ length: tasks }, (_, index) => ({ split: "train", index }));
  const config = {
    model: "agent",
    num_rollouts: rollouts,
    push: false,
    output_dir: join(directory, "outputs"),
    client: { type: "eval", base_url: `${agent.origin}/v1`, api_key_var: "AGENT_KEY" },
    env: {
      taskset: { id: "openenv", base_url: `${address}/v1/environments/proof/openenv`, resets },
      player: { harness: { id: "null" }, runtime: { type: "subprocess" } },
    },
  };
  const file = join(directory, "eval.json");
  await Bun.write(file, JSON.stringify(config));
  await run([join(programs, "vf-eval"), "@", file, "--no-rich"], { PATH: path, AGENT_KEY: "none" });
  const traces = await readTraces();
  const failed = traces.filter(
    ({ errors, rewards }) => errors.length > 0 || rewards.openenv_reward?.score !== 1,
  );
  const differing = await findDifferences(presage, agent.told);
  process.stdout.write(
    `${verifiers}: ${traces.length} rollouts, ${failed.length} failed or without their reward, ${agent.told.length} messages to ` +
      `the agent, histories that differ: ${differing.join(", ") || "none"}\n`,
  );
  agent.stop();
  world.stop();
  return traces.length === tasks * rollouts && failed.length === 0 && differing.length === 0;
};

rmSync(directory, { recursive: true, force: true });
mkdirSync(directory, { recursive: true });
const isProven = await prove().finally(group.stopAll);
process.exit(isProven ? 0 : 1);
