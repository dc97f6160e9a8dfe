import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Subprocess } from "bun";
import { findFreePort } from "../host/free-port.ts";
import { benchDirectory, rootDirectory, workDirectory } from "../paths.ts";
import type { ProcessGroup } from "../processes.ts";
import { startTarget } from "../targets/start-target.ts";

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
        join(rootDirectory, "node_modules", ".bin", "bun"),
        join(benchDirectory, "replicas", "mock-replicas.ts"),
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
