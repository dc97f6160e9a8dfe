import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Subprocess } from "bun";
import {
  answersAt,
  bun,
  findFreePort,
  type ProcessGroup,
  programFile,
  untilTrue,
  workDirectory,
} from "../lib/processes.ts";
import { startPresage } from "../lib/targets.ts";

export const fullReplicasPlan = {
  rounds: 3,
  replicas: 8,
  sessions: 512,
  steps: 20,
  /** A replica's capacity: concurrent requests, and the trajectories in its memory, half again as many as if every session stays. */
  model: { batch: 2, trajectories: 96 },
  slow: { rounds: 3, durationMs: 8_000 },
  kill: { killAtMs: 8_000, startAtMs: 14_000, durationMs: 38_000 },
  choosing: { rounds: 15, replicas: 16, inFlight: 256, calls: 20_480 },
  outage: { beforeMs: 4_000, lastsMs: 30_000, afterMs: 10_000 },
};
export type ReplicasPlan = typeof fullReplicasPlan;

export const quickReplicasPlan: ReplicasPlan = {
  ...fullReplicasPlan,
  rounds: 1,
  slow: { rounds: 1, durationMs: 6_000 },
  outage: { beforeMs: 2_000, lastsMs: 8_000, afterMs: 6_000 },
};

interface ReplicaReading {
  /** Steps with an earlier one in their trajectory, and those of them that found it in memory. */
  readonly repeats: number;
  readonly hits: number;
  /** Over time, the requests in flight at each replica. */
  readonly samples: readonly (readonly number[])[];
}

export interface Fleet {
  readonly presage: Subprocess;
  readonly chat: { readonly url: string; readonly headers: Readonly<Record<string, string>> };
  /** The deployments: one with all replicas, one with all but the first, and one for each replica. */
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

/** Replicas in separate processes can be killed; those in one process report their loads at the same moment. */
interface WantedFleet {
  readonly replicas: number;
  readonly model: ReplicasPlan["model"];
  readonly processes: "one for all" | "one each";
}

/** Replicas, and one Presage in front of them. */
export const startFleet = async (
  group: ProcessGroup,
  name: string,
  { replicas, model, processes }: WantedFleet,
): Promise<Fleet> => {
  const directory = join(workDirectory, "replicas", name);
  mkdirSync(directory, { recursive: true });
  const ports: number[] = [];
  while (ports.length < replicas) ports.push(await findFreePort());

  const running = new Map<number, Subprocess>();
  const start = async (...served: readonly number[]): Promise<void> => {
    const server = group.startServer({
      argv: [
        bun,
        programFile("mock-replicas.ts"),
        ...[model.batch, model.trajectories, ...served].map(String),
      ],
      logFile: join(directory, "replicas.log"),
    });
    for (const port of served) {
      running.set(port, server);
      await untilTrue("a mock replica did not start", { everyMs: 10, timeoutMs: 10_000 }, () =>
        answersAt(`http://127.0.0.1:${port}/v1/models`),
      );
    }
  };
  if (processes === "one for all") await start(...ports);
  else for (const port of ports) await start(port);

  const urls = ports.map((port) => `http://127.0.0.1:${port}/v1`);
  const single = ports.map((_, place) => `replica-${place}`);
  const deployments: [string, string[]][] = [
    ["all", urls],
    ["others", urls.slice(1)],
    ...urls.map((url, place): [string, string[]] => [`replica-${place}`, [url]]),
  ];
  const lines = deployments.map(
    ([own, served]) => `  ${own}: { replicas: [${served.join(", ")}], model: mock }\n`,
  );
  const file = join(directory, "deployments.yaml");
  await Bun.write(file, `default: all\ndeployments:\n${lines.join("")}`);
  const presage = await startPresage(group, "", join("replicas", name), undefined, {
    PRESAGE_DEPLOYMENTS: file,
    PRESAGE_UPSTREAM_URL: "",
    PRESAGE_UPSTREAM_MODEL: "",
  });
  const control = (port: number | undefined, path: string) =>
    fetch(`http://127.0.0.1:${port}/control/${path}`);
  return {
    presage: presage.process,
    chat: { url: `${presage.origin}/v1/chat/completions`, headers: presage.headers },
    all: "all",
    others: "others",
    single,
    ports,
    clear: async () => void (await control(ports[0], "clear")),
    setSlowness: async (port, times) => void (await control(port, `slow?times=${times}`)),
    read: async () => (await (await control(ports[0], "read")).json()) as ReplicaReading,
    kill: async (port) => {
      const server = running.get(port);
      server?.kill("SIGKILL");
      await server?.exited;
    },
    start: (port) => start(port),
    stop: async () => {
      await Promise.all([presage.process, ...new Set(running.values())].map(group.stop));
    },
  };
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
  /** Whether a step's prompt has all previous steps, as in a chat, or only the system turn and this step. */
  readonly grows: boolean;
  readonly sendsSession: boolean;
}

export interface Play {
  readonly policy: PolicyName;
  /** The deployments that the load generator chooses from; for Presage, the one that has the replicas. */
  readonly deployments: readonly string[];
  readonly prompts: Prompts;
  readonly sessions: number;
  readonly steps: number;
  /** If given, sessions restart after their last step until this time is over. */
  readonly durationMs?: number;
}

export interface Step {
  readonly endedAtMs: number;
  readonly session: number;
  /** 0 if there was no response. */
  readonly status: number;
  /** The port of the replica that answered. */
  readonly answerer: number;
  readonly latencyMs: number;
}

/** The mean time between an answer and the next step, for the agent's own model. */
const thinkMs = 100;
/** The pause after a failure. */
const pauseMs = 200;

let runs = 0;

export const playSessions = async (
  group: ProcessGroup,
  { chat }: Fleet,
  play: Play,
): Promise<{ durationMs: number; steps: Step[] }> => {
  // A session's name is its key, and no run may find another's prefixes.
  runs += 1;
  const stdout = await group.outputOf("the client of the sessions", {
    argv: ["node", programFile("session-client.mjs")],
    input: JSON.stringify({ ...play, ...chat, thinkMs, pauseMs, run: runs }),
  });
  const { durationMs, events } = JSON.parse(stdout) as {
    durationMs: number;
    events: [number, number, number, number, number][];
  };
  const steps = events.map(([endedAtMs, session, status, answerer, latencyMs]) => ({
    endedAtMs,
    session,
    status,
    answerer,
    latencyMs,
  }));
  return { durationMs, steps };
};
