import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Subprocess } from "bun";
import { bun, findFreePort, type ProcessGroup, programFile, workDirectory } from "../lib/processes.ts";
import { startTarget } from "../lib/targets.ts";
import type { ChoosingPlan } from "./policies.ts";

/** Where a replica fails, a few of them and enough sessions to keep them busy. */
export const fewReplicas = 4;
export const fewSessions = 128;
export const fewPrompts: Prompts = {
  systemCharacters: 8_000,
  stepCharacters: 100,
  shared: false,
  grows: true,
  sendsSession: true,
};

export interface ReplicasPlan {
  readonly rounds: number;
  readonly replicas: number;
  readonly sessions: number;
  readonly steps: number;
  readonly model: ReplicaModel;
  readonly slow: { readonly rounds: number; readonly durationMs: number };
  readonly kill: { readonly killAtMs: number; readonly startAtMs: number; readonly durationMs: number };
  readonly choosing: ChoosingPlan;
  readonly outage: { readonly beforeMs: number; readonly lastsMs: number; readonly afterMs: number };
}

export const fullReplicasPlan: ReplicasPlan = {
  rounds: 3,
  replicas: 8,
  sessions: 512,
  steps: 20,
  // One and a half times what a replica needs if every session stays.
  model: { batch: 2, trajectories: 96 },
  slow: { rounds: 3, durationMs: 8_000 },
  kill: { killAtMs: 8_000, startAtMs: 14_000, durationMs: 38_000 },
  choosing: { rounds: 15, replicas: 16, inFlight: 256, calls: 20_480 },
  outage: { beforeMs: 4_000, lastsMs: 30_000, afterMs: 10_000 },
};

export const quickReplicasPlan: ReplicasPlan = {
  ...fullReplicasPlan,
  rounds: 1,
  slow: { rounds: 1, durationMs: 6_000 },
  outage: { beforeMs: 2_000, lastsMs: 8_000, afterMs: 6_000 },
};

/** What one replica can do. */
export interface ReplicaModel {
  /** How many requests it works on at once. */
  readonly batch: number;
  /** How many trajectories its memory holds. */
  readonly trajectories: number;
}

export interface ReplicaReading {
  readonly steps: number;
  /** Steps with an earlier one in their trajectory, and those of them that found it in memory. */
  readonly repeats: number;
  readonly hits: number;
  /** Over time, the requests in flight at each replica. */
  readonly samples: readonly (readonly number[])[];
}

/** Replicas that are one process each can be killed; in one process, their load is read at the same moment. */
export type Processes = "one for all" | "one each";

export interface Fleet {
  readonly presage: Subprocess;
  readonly chat: { readonly url: string; readonly headers: Readonly<Record<string, string>> };
  /** The deployments: of all replicas, of all but the first, and one for each. */
  readonly all: string;
  readonly others: string;
  readonly single: readonly string[];
  readonly ports: readonly number[];
  /** Forgets prompts and figures. */
  clear(): Promise<void>;
  setSlowness(port: number, times: number): Promise<void>;
  read(): Promise<ReplicaReading>;
  kill(port: number): Promise<void>;
  start(port: number): Promise<void>;
  stop(): Promise<void>;
}

const allName = "all";
const othersName = "others";

/** Replicas, and one Presage in front of them. */
export const startFleet = async (
  group: ProcessGroup,
  name: string,
  { replicas, model, processes }: { replicas: number; model: ReplicaModel; processes: Processes },
): Promise<Fleet> => {
  const directory = join(workDirectory, "replicas", name);
  mkdirSync(directory, { recursive: true });
  const ports: number[] = [];
  while (ports.length < replicas) ports.push(await findFreePort());
  const single = ports.map((_, place) => `replica-${place}`);
  const urls = ports.map((port) => `http://127.0.0.1:${port}/v1`);

  const running = new Map<number, Subprocess>();
  const startServer = async (served: readonly number[]): Promise<void> => {
    const server = group.startServer({
      argv: [
        bun,
        programFile("mock-replicas.ts"),
        `${model.batch}`,
        `${model.trajectories}`,
        ...served.map(String),
      ],
      logFile: join(directory, "replicas.log"),
    });
    for (const port of served) {
      running.set(port, server);
      await untilReady(port);
    }
  };
  if (processes === "one for all") await startServer(ports);
  else for (const port of ports) await startServer([port]);

  const file = join(directory, "deployments.yaml");
  const deployments: [string, string[]][] = [
    [allName, urls],
    [othersName, urls.slice(1)],
    ...urls.map((url, place): [string, string[]] => [`replica-${place}`, [url]]),
  ];
  const lines = deployments.map(
    ([own, served]) => `  ${own}: { replicas: [${served.join(", ")}], model: mock }\n`,
  );
  await Bun.write(file, `default: ${allName}\ndeployments:\n${lines.join("")}`);
  const { process, request } = await startTarget(group, "presage", "", directory, {
    PRESAGE_DEPLOYMENTS: file,
    PRESAGE_UPSTREAM_URL: "",
    PRESAGE_UPSTREAM_MODEL: "",
  });
  const control = (port: number | undefined, path: string) =>
    fetch(`http://127.0.0.1:${port}/control/${path}`);
  return {
    presage: process,
    chat: { url: `${new URL(request.url).origin}/v1/chat/completions`, headers: request.headers },
    all: allName,
    others: othersName,
    single,
    ports,
    clear: async () => {
      await control(ports[0], "clear");
    },
    setSlowness: async (port, times) => {
      await control(port, `slow?times=${times}`);
    },
    read: async () => (await (await control(ports[0], "read")).json()) as ReplicaReading,
    kill: async (port) => {
      const server = running.get(port);
      server?.kill("SIGKILL");
      await server?.exited;
    },
    start: (port) => startServer([port]),
    stop: async () => {
      await Promise.all([process, ...new Set(running.values())].map(group.stop));
    },
  };
};

const untilReady = async (port: number): Promise<void> => {
  for (let attempt = 0; attempt < 1_000; attempt += 1) {
    const isReady = await fetch(`http://127.0.0.1:${port}/v1/models`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isReady) return;
    await Bun.sleep(10);
  }
  throw new Error("a mock replica did not start");
};

/** How a request's replica is chosen: by Presage, or by the load generator. */
export const policyNames = [
  "presage",
  "random",
  "round robin",
  "least in flight",
  "power of two",
  "hash of the session",
] as const;
export type PolicyName = (typeof policyNames)[number];

export interface Prompts {
  readonly systemCharacters: number;
  readonly stepCharacters: number;
  /** Whether all sessions have the same system turn. */
  readonly shared: boolean;
  /** Whether a step's prompt has all steps before it, as in a chat, or the system turn and this step only. */
  readonly grows: boolean;
  readonly sendsSession: boolean;
}

export interface Play {
  readonly policy: PolicyName;
  /** What the load generator chooses from; for Presage, the one deployment that has the replicas. */
  readonly deployments: readonly string[];
  readonly prompts: Prompts;
  readonly sessions: number;
  readonly steps: number;
  /** If given, sessions begin anew after their last step until this time is over. */
  readonly durationMs?: number;
}

export interface Step {
  readonly endedAtMs: number;
  readonly session: number;
  readonly trajectory: number;
  readonly step: number;
  /** 0 if there was no response. */
  readonly status: number;
  /** The port of the replica that answered. */
  readonly answerer: number;
  readonly latencyMs: number;
}

export interface Played {
  readonly durationMs: number;
  readonly steps: readonly Step[];
}

/** Between an answer and the next step, on average: the agent's own model. */
const thinkMs = 100;
/** After a failure. */
const pauseMs = 200;

let runs = 0;

export const playSessions = async (group: ProcessGroup, fleet: Fleet, play: Play): Promise<Played> => {
  // A session's name is its key, and no run may find another's prefixes.
  runs += 1;
  const { url, headers } = fleet.chat;
  const { stdout, stderr, exitCode } = await group.runCommand({
    argv: ["node", programFile("session-client.mjs")],
    input: JSON.stringify({ ...play, url, headers, thinkMs, pauseMs, run: runs }),
  });
  if (exitCode !== 0) throw new Error(`the client of the sessions failed: ${stderr}`);
  const { durationMs, events } = JSON.parse(stdout) as {
    durationMs: number;
    events: [number, number, number, number, number, number, number][];
  };
  return {
    durationMs,
    steps: events.map(([endedAtMs, session, trajectory, step, status, answerer, latencyMs]) => ({
      endedAtMs,
      session,
      trajectory,
      step,
      status,
      answerer,
      latencyMs,
    })),
  };
};
