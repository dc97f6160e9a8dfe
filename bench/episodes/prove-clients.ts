// bun bench/episodes/prove-clients.ts [cuts | crash | failures | slow | pings | openenv]: plays episodes with the public clients of the
// Open Reward Standard and of OpenEnv through cut connections, a killed process and a failing model, and compares what they saw with the
// histories that the server has. Needs Python with venv. Prints the figures; exits with 1 if a history differs.
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Episode } from "@presage/contract";
import { openEnvPython } from "../../packages/server/test/support/python/openenv-python.ts";
import { pythonEnvironment } from "../../packages/server/test/support/python/python-environment.ts";
import { post, read } from "../lib/api.ts";
import { startPostgres } from "../lib/postgres.ts";
import { benchDirectory, createProcessGroup, workDirectory } from "../lib/processes.ts";
import { type RunningPresage, startPresage } from "../lib/targets.ts";
import { readCpuMs, readMemory } from "../lib/usage.ts";
import { startWorld } from "./models.ts";
import { startRelay } from "./relay.ts";

interface Played {
  readonly id: string;
  readonly seen: readonly { text: string | null; reward: number | null; error: unknown }[];
  readonly finished: boolean;
}

const group = createProcessGroup();
const directory = join(workDirectory, "ors");
const plainSteps = ["open", "look", "take", "drop", "close", "push"];
const more = { PRESAGE_UPSTREAM_RETRIES: "0" };

const keyOf = ({ headers }: RunningPresage): string =>
  (headers["x-api-key"] ?? headers.authorization ?? "").replace(/^Bearer /, "");

const createEnvironment = async (presage: RunningPresage): Promise<void> => {
  await post(presage, "/v1/environments", { name: "proof", max_steps: 100 });
  await post(presage, "/v1/environments/proof/tasks", { initial_state: "A room.", prompt: "Play." });
};

const players = {
  ors: { script: "play-ors.py", findPython: () => pythonEnvironment(["ors-sdk==0.1.0"]) },
  openenv: { script: "play-openenv.py", findPython: openEnvPython },
};

const startPlayer = async (
  client: keyof typeof players,
  origin: string,
  key: string,
  episodes: number,
  pauseS: number,
  actions: string[],
) => {
  const { script, findPython } = players[client];
  const python = await findPython();
  if (python === undefined) throw new Error("There is no Python with venv.");
  const path = join(benchDirectory, "episodes", script);
  return group.runCommand({
    argv: [python, path, origin, key, String(episodes), String(pauseS), ...actions],
  });
};

/** Compares what a client saw with the histories. Returns the number of episodes that differ. */
const countDifferences = async (presage: RunningPresage, played: readonly Played[]): Promise<number> => {
  let differences = 0;
  for (const { id, seen } of played) {
    const episode = await read<Episode>(presage, `/v1/episodes/${id}`);
    const history = episode.steps.map(({ observation }) => observation);
    const texts = seen.flatMap(({ text }) => (text === null ? [] : [text]));
    const failed = seen.filter(({ text }) => text === null);
    const isMarked =
      failed.length === 0 ||
      (episode.status === "finished" &&
        episode.outcome === null &&
        episode.reward === null &&
        failed.every(({ error, reward }) => error !== null && reward === null));
    if (JSON.stringify(history) !== JSON.stringify(texts) || !isMarked) differences += 1;
  }
  return differences;
};

const say = (text: string): void => void process.stdout.write(`${text}\n`);

const prove = async (
  name: string,
  databaseUrls: readonly string[],
  wanted: {
    episodes: number;
    cuts?: number;
    failing?: number;
    actions?: string[];
    pauseS?: number;
    kill?: boolean;
    client?: keyof typeof players;
  },
): Promise<boolean> => {
  const { episodes, cuts = 0, failing = 0, actions = plainSteps, pauseS = 0, kill = false } = wanted;
  const { client = "ors" } = wanted;
  const world = startWorld(100);
  const servers: RunningPresage[] = [];
  for (const [index, url] of databaseUrls.entries())
    servers.push(await startPresage(group, world.origin, `ors/${name}-${index}`, url, more));
  const [first] = servers;
  const last = servers.at(-1);
  if (first === undefined || last === undefined) throw new Error("There is no server.");
  await createEnvironment(last);
  world.failing = failing;
  const relay = startRelay(
    servers.map(({ origin }) => Number(new URL(origin).port)),
    cuts,
  );
  const startedAtMs = performance.now();
  const player = startPlayer(client, relay.origin, keyOf(last), episodes, pauseS, actions);
  let hasEnded = false;
  void player.finally(() => {
    hasEnded = true;
  });
  if (kill) {
    // Kills the process halfway through.
    const half = (episodes * actions.length) / 2;
    while (!hasEnded && [...world.asked.values()].reduce((sum, count) => sum + count, 0) < half)
      await Bun.sleep(20);
    first.process.kill("SIGKILL");
  }
  const { stdout, stderr, exitCode } = await player;
  const seconds = (performance.now() - startedAtMs) / 1_000;
  if (exitCode !== 0) {
    say(
      `${name}: the client failed after ${seconds.toFixed(0)} s: ${stderr.split("Unclosed")[0]?.slice(-1_500)}`,
    );
    return false;
  }
  const played = JSON.parse(stdout) as Played[];
  const differences = await countDifferences(last, played);
  const steps = played.reduce((sum, { seen }) => sum + seen.length, 0);
  const asked = [...world.asked.values()].reduce((sum, count) => sum + count, 0);
  const failed = played.filter(({ seen }) => seen.some(({ text }) => text === null)).length;
  const complete = played.filter(({ seen }) => seen.length === actions.length).length;
  const isWhole = failing > 0 || complete === episodes;
  say(
    `${name}: ${episodes} episodes, ${steps} results in ${seconds.toFixed(1)} s, ${relay.cuts()} cuts, ` +
      `${asked} calls of the model, ${failed} episodes marked as failed, ${complete} played to the end, ${differences} histories differ`,
  );
  relay.stop();
  for (const server of servers) await group.stop(server.process);
  world.stop();
  return differences === 0 && isWhole;
};

/** The plan of the pings. */
const pinged = { episodes: 5_000, atOnce: 50, perSecond: 500, seconds: 20 };

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(0)} MB`;

/** Opens thousands of episodes and pings them steadily. Describes latencies and memory. */
const measurePings = async ({ origin, headers, process }: RunningPresage): Promise<string> => {
  const send = async (path: string, sessionId?: string, body?: object): Promise<string> => {
    const response = await fetch(origin + path, {
      method: "POST",
      headers: { ...headers, ...(sessionId === undefined ? {} : { "x-session-id": sessionId }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`);
    return text;
  };
  const before = readMemory(process.pid).rssBytes;
  const sessions: string[] = [];
  const open = async () => {
    while (sessions.length < pinged.episodes) {
      const sessionId = /data: (\S+)/.exec(await send("/create_session"))?.[1] ?? "";
      sessions.push(sessionId);
      await send("/create", sessionId, { env_name: "sandbox", split: "train", index: 0 });
    }
  };
  await Promise.all(Array.from({ length: pinged.atOnce }, open));
  // How long the machine itself takes at that time, for comparison.
  const plain = await measureSteadily(() => fetch(`${origin}/health`).then((response) => response.text()));
  const cpuBeforeMs = readCpuMs(process.pid);
  const pings = await measureSteadily((number) => send("/ping", sessions[number % sessions.length]));
  const { rssBytes, peakRssBytes } = readMemory(process.pid);
  const cpuShare = (readCpuMs(process.pid) - cpuBeforeMs) / (pinged.seconds * 1_000);
  return (
    `${pinged.perSecond}/s over ${sessions.length} open episodes: ${pings} (GET /health before: ${plain}), ` +
    `${(cpuShare * 100).toFixed(0)} % of a core; memory ${megabytes(before)} before, ` +
    `${megabytes(rssBytes)} with them, peak ${megabytes(peakRssBytes)}`
  );
};

/** Latencies of requests that are sent at a steady rate, however long they take. */
const measureSteadily = async (send: (number: number) => Promise<unknown>): Promise<string> => {
  const { perSecond, seconds } = pinged;
  const latenciesMs: number[] = [];
  const pending: Promise<void>[] = [];
  const startedAtMs = performance.now();
  for (let sent = 0; sent < perSecond * seconds; sent += 1) {
    const dueAtMs = startedAtMs + (sent * 1_000) / perSecond;
    while (performance.now() < dueAtMs) await Bun.sleep(1);
    // Measured from when the request was due: a late start counts as well.
    pending.push(send(sent).then(() => void latenciesMs.push(performance.now() - dueAtMs)));
  }
  await Promise.all(pending);
  latenciesMs.sort((a, b) => a - b);
  const at = (share: number): string => (latenciesMs[Math.floor(share * latenciesMs.length)] ?? 0).toFixed(1);
  return `p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, longest ${at(1 - 1e-9)} ms`;
};

const main = async (wanted: readonly string[]): Promise<boolean> => {
  const isWanted = (name: string) => wanted.length === 0 || wanted.includes(name);
  rmSync(workDirectory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true });
  const postgres = await startPostgres(group, 6);
  if (postgres === undefined) return false;
  const [ofCuts = "", ofCrash = "", ofFailures = "", ofPings = "", ofCutsOfTwo = "", ofOpenEnv = ""] =
    postgres.urls;
  const results: boolean[] = [];
  if (isWanted("cuts")) {
    results.push(await prove("cuts", [ofCuts], { episodes: 350, cuts: 1_000 }));
    results.push(await prove("cuts-of-two", [ofCutsOfTwo, ofCutsOfTwo], { episodes: 350, cuts: 1_000 }));
  }
  if (isWanted("crash"))
    results.push(await prove("crash", [ofCrash, ofCrash], { episodes: 500, pauseS: 0.2, kill: true }));
  if (isWanted("openenv")) {
    const wantedOfOpenEnv = { episodes: 1_000, pauseS: 0.2, kill: true, client: "openenv" } as const;
    results.push(await prove("openenv", [ofOpenEnv, ofOpenEnv], wantedOfOpenEnv));
  }
  if (isWanted("failures"))
    results.push(await prove("failures", [ofFailures], { episodes: 200, failing: 0.2 }));
  if (isWanted("slow")) {
    const url = `sqlite:${join(directory, "slow.db")}`;
    results.push(await prove("slow", [url], { episodes: 20, actions: ["wait 45", "look"] }));
  }
  if (isWanted("pings"))
    for (const [name, url] of [
      ["SQLite", `sqlite:${join(directory, "pings.db")}`],
      ["PostgreSQL", ofPings],
    ] as const) {
      const world = startWorld(0);
      const presage = await startPresage(group, world.origin, `ors/pings-${name}`, url, more);
      say(`pings, ${name}: ${await measurePings(presage)}`);
      await group.stop(presage.process);
      world.stop();
    }
  await group.stop(postgres.process);
  return results.every(Boolean);
};

const isProven = await main(process.argv.slice(2)).finally(group.stopAll);
process.exit(isProven ? 0 : 1);
