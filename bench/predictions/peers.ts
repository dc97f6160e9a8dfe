import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import {
  compareRounds,
  type Figure,
  figureOf,
  findProblems,
  type Goal,
  judge,
  type Read,
  showFigure,
  showTimes,
  tableOf,
  withoutProblems,
} from "../lib/figures.ts";
import { installPortkey } from "../lib/machine.ts";
import type { Part } from "../lib/part.ts";
import { predictBody } from "../lib/payload.ts";
import { findFreePort, type ProcessGroup, workDirectory } from "../lib/processes.ts";
import {
  chatRequest,
  type Launch,
  type Place,
  placeFor,
  prepareLaunch,
  start,
  verifyTarget,
} from "../lib/targets.ts";
import type { Upstream } from "../lib/upstream.ts";
import { measureRound, type RunningTarget, type Sample, type Scenario, warmUp } from "./predictions.ts";

/** The only core of the gateways. Upstream and wrk may use all. */
const core = "1";
const apiKey = "sk-bench-key-that-is-only-good-on-loopback";
/** Where the other programs are installed: not part of the repository. */
const cacheDirectory = process.env.BENCH_PEERS_DIRECTORY ?? join(homedir(), ".cache", "presage-bench");

const scenarios: readonly Scenario[] = [
  { connections: 64, delayMs: 0, durationS: 3 },
  { connections: 1, delayMs: 0, durationS: 3 },
  { connections: 64, delayMs: 20, durationS: 3 },
];
const [busy, alone, delayed] = scenarios as [Scenario, Scenario, Scenario];
const fullPlan = { rounds: 5, warmUpS: 1, firstWarmUpS: 4, scenarios };
const quickPlan = {
  rounds: 1,
  warmUpS: 1,
  firstWarmUpS: 1,
  scenarios: scenarios.map((one) => ({ ...one, durationS: 1 })),
};

interface Peer {
  readonly title: string;
  /** Installs the program; returns why that failed, or undefined. */
  readonly install?: (group: ProcessGroup) => Promise<string | undefined>;
  readonly prepare: (place: Place) => Launch | Promise<Launch>;
  /** How long it may pause between answers to accepted requests. */
  readonly quietForMs?: number;
}

/** Installs it from Python's package index into its own environment. */
const fromPython = (name: string, requirement: string) => async (group: ProcessGroup) => {
  const directory = join(cacheDirectory, name);
  const pip = join(directory, "bin", "pip");
  if (!existsSync(pip)) await group.runCommand({ argv: ["python3", "-m", "venv", directory] });
  if (!existsSync(pip)) return "python3 with venv is not installed";
  const { exitCode, stderr } = await group.runCommand({ argv: [pip, "install", "--quiet", requirement] });
  return exitCode === 0 ? undefined : stderr.trim().split("\n").at(-1);
};

const pythonProgram = (name: string, program: string) => join(cacheDirectory, name, "bin", program);
const authorised = (port: number) =>
  chatRequest(`http://127.0.0.1:${port}`, { authorization: `Bearer ${apiKey}` });

/** A router with one worker and its cheapest settings. */
const router =
  (argv: readonly string[]) =>
  async ({ port, upstreamOrigin }: Place): Promise<Launch> => ({
    argv: [
      ...argv,
      ...["--host", "127.0.0.1", "--port", `${port}`, "--worker-urls", upstreamOrigin],
      ...["--policy", "round_robin", "--api-key", apiKey, "--prometheus-port", `${await findFreePort()}`],
    ],
    readyUrl: `http://127.0.0.1:${port}/health`,
    request: authorised(port),
  });

const liteLlm = async ({ port, upstreamOrigin, directory }: Place): Promise<Launch> => {
  const config = join(directory, "config.yaml");
  const served = { model: "openai/mock", api_base: `${upstreamOrigin}/v1`, api_key: "bench" };
  const models = [{ model_name: "mock", litellm_params: served }];
  await Bun.write(config, JSON.stringify({ model_list: models, general_settings: { master_key: apiKey } }));
  return {
    argv: [
      pythonProgram("litellm", "litellm"),
      ...["--config", config, "--host", "127.0.0.1", "--port", `${port}`],
    ],
    // Uses the local list of prices instead of fetching it.
    env: { LITELLM_LOCAL_MODEL_COST_MAP: "True" },
    readyUrl: `http://127.0.0.1:${port}/health/readiness`,
    request: authorised(port),
  };
};

const presageOver = (client: "fetch" | "sockets") => async (place: Place) => {
  const launch = await prepareLaunch.presage(place);
  return { ...launch, env: { ...launch.env, PRESAGE_UPSTREAM_CLIENT: client } };
};

/** In the order of the table. */
const peers = {
  nginx: { title: "nginx", prepare: prepareLaunch.nginx },
  bun: { title: "a bare Bun proxy", prepare: prepareLaunch.bun },
  presage: { title: "**Presage**, over sockets", prepare: presageOver("sockets") },
  fetch: { title: "Presage, over `fetch`", prepare: presageOver("fetch") },
  sglang: {
    title: "SGLang's router 0.3.2 (Rust)",
    install: fromPython("sglang", "sglang-router==0.3.2"),
    prepare: router([pythonProgram("sglang", "smg"), "launch"]),
  },
  vllm: {
    title: "vLLM's router 0.1.17 (Rust)",
    install: fromPython("vllm", "vllm-router==0.1.17"),
    prepare: router([pythonProgram("vllm", "vllm-router")]),
  },
  portkey: {
    title: "Portkey (Node.js)",
    install: () => installPortkey().then(() => undefined, String),
    prepare: prepareLaunch.portkey,
    quietForMs: 500,
  },
  litellm: {
    title: "LiteLLM 1.108.7 (Python)",
    install: fromPython("litellm", "litellm[proxy]==1.108.7"),
    prepare: liteLlm,
    quietForMs: 1_000,
  },
} satisfies Readonly<Record<string, Peer>>;
type PeerName = keyof typeof peers;
const peerNames = Object.keys(peers) as PeerName[];

export const peersPart: Part = {
  title: "Predictions: Presage and its peers on one core",
  measure: async ({ group, upstream, quick }) => {
    const plan = quick ? quickPlan : fullPlan;
    const origin = await upstream();
    const { found, missing } = await installPeers(group);
    const samples: Sample[] = [];
    for (let round = 0; round < plan.rounds; round += 1)
      samples.push(...(await measureAnew(group, origin, found, plan, round)));
    return {
      goals: judgePeers(samples),
      problems: findProblems(
        samples,
        ({ target, scenario, round }) =>
          `${target} at ${scenario.connections} connections, ${scenario.delayMs} ms, round ${round + 1}`,
      ),
      text: writePeers(samples, found, missing, plan.rounds),
    };
  },
};

/** The programs that could be installed, and why the others could not. */
const installPeers = async (group: ProcessGroup) => {
  const found: PeerName[] = [];
  const missing = ["Bifrost and GoModel (Go): the proxy of Go's modules has them not"];
  for (const name of peerNames) {
    const peer: Peer = peers[name];
    const reason = await peer.install?.(group);
    if (reason === undefined) found.push(name);
    else missing.push(`${peer.title}: ${reason}`);
  }
  return { found, missing };
};

/** One round over newly started servers: two starts of the same program differ by more than two rounds over one start. */
const measureAnew = async (
  group: ProcessGroup,
  upstream: Upstream,
  found: readonly PeerName[],
  plan: typeof fullPlan,
  round: number,
): Promise<Sample[]> => {
  const direct = { name: "direct", pid: upstream.process.pid, request: chatRequest(upstream.origin) };
  const started = [];
  for (const name of found) started.push(await startPeer(group, upstream, name));
  const targets: RunningTarget[] = [direct, ...started.map(({ target }) => target)];
  await warmUp(group, upstream, targets, plan.firstWarmUpS);
  const samples = await measureRound(group, upstream, targets, plan, round);
  await Promise.all(started.map(({ process }) => group.stop(process)));
  return samples;
};

/** Starts a peer and proves that it sends the same prompt to the upstream. */
const startPeer = async (group: ProcessGroup, upstream: Upstream, name: PeerName) => {
  const peer: Peer = peers[name];
  const directory = join(workDirectory, `peer-${name}`);
  const launch = await peer.prepare(await placeFor(upstream.origin, directory));
  const pinned = { ...launch, argv: ["taskset", "-c", core, ...launch.argv] };
  const { process, request } = await start(group, name, pinned, directory);
  await verifyTarget(name, request, upstream);
  const target: RunningTarget = { name, pid: process.pid, request, quietForMs: peer.quietForMs };
  return { process, target };
};

const samplesAt = (samples: readonly Sample[], name: string, at: Scenario): Sample[] =>
  withoutProblems(samples).filter(
    ({ target, scenario }) =>
      target === name && scenario.connections === at.connections && scenario.delayMs === at.delayMs,
  );

const readCpu: Read<Sample> = ({ cpuUsPerRequest }) => cpuUsPerRequest;
const cpuAt = (samples: readonly Sample[], name: string, at: Scenario) =>
  figureOf(samplesAt(samples, name, at), readCpu);

/** The ratio within each round. */
const ratioAt = (samples: readonly Sample[], name: string, other: string, at: Scenario): Figure | undefined =>
  compareRounds(samplesAt(samples, name, at), samplesAt(samples, other, at), readCpu);

const judgePeers = (samples: readonly Sample[]): Goal[] => {
  const goal = (what: string, other: PeerName, at: Scenario, most: number) =>
    judge(
      `${what}, at most ${most} times the processor time of ${peers[other].title}`,
      ratioAt(samples, "presage", other, at)?.median,
      (ratio) => ratio <= most,
      showTimes,
    );
  const [own, direct] = [samplesAt(samples, "presage", alone), samplesAt(samples, "direct", alone)];
  const added = compareRounds(
    own,
    direct,
    ({ p50Us }) => p50Us,
    (left, right) => left - right,
  );
  return [
    goal("64 connections", "nginx", busy, 4),
    goal("64 connections", "sglang", busy, 0.7),
    goal("One connection", "sglang", alone, 0.85),
    goal("64 connections and 20 ms of delay", "sglang", delayed, 0.8),
    judge(
      "One connection, at most 0.15 ms more than the direct call at the median",
      added === undefined ? undefined : added.median / 1000,
      (ms) => ms <= 0.15,
      (ms) => `${ms.toFixed(3)} ms`,
    ),
  ];
};

const columns = [
  [busy, "64 connections"],
  [alone, "1 connection"],
  [delayed, "64, 20 ms"],
] as const;

const writePeers = (
  samples: readonly Sample[],
  found: readonly PeerName[],
  missing: readonly string[],
  rounds: number,
): string => `
- Each gateway pinned to one core, the same one; upstream and wrk use both. They take turns within ${rounds} rounds, and each round starts them anew: servers of one program, started alike,
  differ. Every figure is the median of the rounds, with the range in parentheses; ratios are taken within a round.
- One prediction of ${(predictBody.length / 1000).toFixed(1)} KB over wrk, as in the predictions above. Presage, SGLang's router and LiteLLM check a key; nginx, the bare proxy,
  vLLM's router and Portkey do not. Each logs as it does by default: Presage, nginx and LiteLLM a line for each request, SGLang's router two, the others none. Routers spread by
  \`round_robin\` over one worker; LiteLLM has one process and no database.
- Processor time is user + system time of the process and its children, divided by the number of requests that reached the upstream.
- Not had: ${missing.join("; ")}.

### Processor time a request, µs
${tableOf(found, [
  ["", (name) => peers[name].title],
  ...columns.map(([at, title]) => [title, (name: PeerName) => showFigure(cpuAt(samples, name, at))] as const),
])}

### Presage over sockets: its processor time as a part of the other's
${tableOf(
  found.filter((name) => name !== "presage"),
  [
    ["", (name) => peers[name].title],
    ...columns.map(
      ([at, title]) =>
        [title, (name: PeerName) => showFigure(ratioAt(samples, "presage", name, at))] as const,
    ),
  ],
)}
`;
