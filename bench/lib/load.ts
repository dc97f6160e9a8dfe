import { loadavg } from "node:os";
import { join } from "node:path";
import { completionExcerpt } from "./payload.ts";
import { type ProcessGroup, programFile, workDirectory } from "./processes.ts";
import type { LoadRequest } from "./targets.ts";
import { type Upstream, waitUntilQuiet } from "./upstream.ts";
import { readCpuMsOfEach } from "./usage.ts";

export interface WrkResult {
  readonly durationUs: number;
  readonly requests: number;
  readonly p50Us: number;
  readonly p90Us: number;
  readonly p99Us: number;
  readonly maxUs: number;
  /** `status` counts responses with 400 or above, the others failed sockets. */
  readonly errors: Readonly<Record<"connect" | "read" | "write" | "status" | "timeout", number>>;
}

/** The machine's load average. */
export const loadNow = (): number => loadavg()[0] ?? 0;

/**
 * One thread is enough to saturate any target here, and leaves the other core to the target. With `ports`, there is one for
 * each, with an equal part of the connections.
 */
export const runWrk = async (
  group: ProcessGroup,
  request: LoadRequest,
  connections: number,
  durationS: number,
  scriptName: "predict.lua" | "evaluate.lua" = "predict.lua",
  ports: readonly number[] = [],
): Promise<WrkResult> => {
  const bodyFile = join(workDirectory, "request-body.json");
  await Bun.write(bodyFile, request.body);
  const headers = Object.entries(request.headers).map(([name, value]) => `${name}: ${value}`);
  const options = [`-t${ports.length || 1}`, `-c${connections}`, `-d${durationS}s`, "--timeout", "30s"];
  const { stdout, stderr, exitCode } = await group.runCommand({
    argv: ["wrk", ...options, "-s", programFile(scriptName), request.url, "--", bodyFile, ...headers],
    env: { BENCH_PORTS: ports.join(" ") },
  });
  if (exitCode !== 0 || !stderr.startsWith("{"))
    throw new Error(`wrk failed (${exitCode}): ${stdout}${stderr}`);
  return JSON.parse(stderr) as WrkResult;
};

export const perSecond = ({ requests, durationUs }: WrkResult): number => (requests / durationUs) * 1e6;

/** The errors of these runs, by kind. */
export const errorsOf = (...runs: readonly WrkResult[]): string[] =>
  runs.flatMap(({ errors }) =>
    Object.entries(errors).flatMap(([kind, count]) => (count > 0 ? [`${count} ${kind} errors`] : [])),
  );

/** The problems in one text; undefined if there are none. */
export const joinProblems = (problems: readonly string[]): string | undefined =>
  problems.length === 0 ? undefined : problems.join(", ");

export interface PredictionLoad {
  /** Makes predictions with wrk for this long. */
  readonly run: (durationS: number) => Promise<WrkResult>;
  readonly pids: readonly number[];
  readonly connections: number;
  readonly delayMs: number;
  readonly warmUpS: number;
  readonly durationS: number;
  readonly quietForMs?: number | undefined;
}

export interface LoadSample {
  readonly requestsPerSecond: number;
  readonly p50Us: number;
  readonly p99Us: number;
  /** Undefined if too little was used to measure in ticks of 10 ms. */
  readonly cpuUsPerRequest: number | undefined;
  /** The processor time of the process that used most, as a share of the total. */
  readonly busiestPart: number;
  /** A problem that invalidates the figure: an error, or a response that did not come from the upstream. */
  readonly problem: string | undefined;
}

/** 20 ticks, so that rounding is at most 5 %. */
const leastCpuMs = 200;

/** Warms up, then measures one load of predictions and the processor time of these processes. */
export const measurePredictions = async (
  upstream: Upstream,
  { run, pids, connections, delayMs, warmUpS, durationS, quietForMs }: PredictionLoad,
): Promise<LoadSample> => {
  await upstream.set(delayMs);
  await run(warmUpS);
  await waitUntilQuiet(upstream, quietForMs);

  await upstream.set(delayMs);
  const before = readCpuMsOfEach(pids);
  const wrk = await run(durationS);
  const answered = await waitUntilQuiet(upstream, quietForMs);
  const used = [...readCpuMsOfEach(pids)].map(([pid, cpuMs]) => cpuMs - (before.get(pid) ?? 0));
  const cpuMs = used.reduce((sum, one) => sum + one, 0);

  return {
    requestsPerSecond: perSecond(wrk),
    p50Us: wrk.p50Us,
    p99Us: wrk.p99Us,
    cpuUsPerRequest: cpuMs >= leastCpuMs && answered > 0 ? (cpuMs * 1000) / answered : undefined,
    busiestPart: Math.max(...used) / cpuMs,
    problem: findLoadProblem(wrk, answered, connections),
  };
};

const findLoadProblem = (wrk: WrkResult, answered: number, connections: number): string | undefined => {
  const errors = errorsOf(wrk);
  if (errors.length > 0) return errors.join(", ");
  if (wrk.requests === 0) return "no request succeeded";
  if (answered < wrk.requests) return `${wrk.requests} responses, but only ${answered} from the upstream`;
  if (answered > wrk.requests + connections)
    return `${wrk.requests} responses took ${answered} upstream requests`;
  return undefined;
};

export interface InFlightOutcome {
  readonly succeeded: number;
  /** Number of failures by cause. */
  readonly failures: Readonly<Record<string, number>>;
  readonly durationMs: number;
  readonly slowestMs: number;
}

export const runInFlight = async (
  group: ProcessGroup,
  request: LoadRequest,
  load: { readonly rollouts: number; readonly steps: number },
): Promise<InFlightOutcome> => {
  const input = JSON.stringify({ ...request, ...load, deadlineMs: 60_000, expect: completionExcerpt });
  const argv = ["node", programFile("in-flight-client.mjs")];
  return JSON.parse(await group.outputOf("the client of the predictions in flight", { argv, input }));
};

/** Does some work `count` times, always with `concurrency` in progress. */
export const atOnce = async (
  count: number,
  concurrency: number,
  work: (index: number) => Promise<void>,
): Promise<void> => {
  let next = 0;
  const workOn = async (): Promise<void> => {
    while (next < count) {
      const index = next;
      next += 1;
      await work(index);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, workOn));
};

/** Calls the function repeatedly, with pauses, until stopped. */
export const watch = (everyMs: number, look: () => Promise<void>): { stop(): Promise<void> } => {
  let isOver = false;
  const watching = (async () => {
    while (!isOver) {
      await look();
      await Bun.sleep(everyMs);
    }
  })();
  return {
    stop: async () => {
      isOver = true;
      await watching;
    },
  };
};

export const fewCallers = 4;
export const pauseMs = 10;

/** How many milliseconds predictions take, a few at a time with pauses. */
export const predictWhile = async (
  { url, headers, body }: LoadRequest,
  isOn: () => boolean,
): Promise<number[]> => {
  const tookMs: number[] = [];
  await atOnce(fewCallers, fewCallers, async () => {
    while (isOn()) {
      const askedAtMs = performance.now();
      const response = await fetch(url, { method: "POST", headers, body });
      await response.text();
      if (!response.ok) throw new Error(`a prediction beside other work: ${response.status}`);
      tookMs.push(performance.now() - askedAtMs);
      await Bun.sleep(pauseMs);
    }
  });
  return tookMs;
};

export const p99 = (tookMs: readonly number[]): number =>
  tookMs.toSorted((one, other) => one - other)[Math.floor((tookMs.length - 1) * 0.99)] ?? Number.NaN;
