import type { RunningPresage } from "../evaluations/start-presage.ts";
import { readCpuMs, readMemory } from "../host/process-account.ts";

const episodes = 5_000;
const atOnce = 50;
const perSecond = 500;
const seconds = 20;

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(0)} MB`;

/** Opens thousands of episodes and pings them steadily. Describes latencies and memory. */
export const measurePings = async ({ origin, headers, process }: RunningPresage): Promise<string> => {
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
    while (sessions.length < episodes) {
      const sessionId = /data: (\S+)/.exec(await send("/create_session"))?.[1] ?? "";
      sessions.push(sessionId);
      await send("/create", sessionId, { env_name: "sandbox", split: "train", index: 0 });
    }
  };
  await Promise.all(Array.from({ length: atOnce }, open));
  // What the machine itself needs at that time, for comparison.
  const plain = await measureSteadily(() => fetch(`${origin}/health`).then((response) => response.text()));
  const cpuBeforeMs = readCpuMs(process.pid);
  const pings = await measureSteadily((number) => send("/ping", sessions[number % sessions.length]));
  const { rssBytes, peakRssBytes } = readMemory(process.pid);
  const cpuShare = (readCpuMs(process.pid) - cpuBeforeMs) / (seconds * 1_000);
  return (
    `${perSecond}/s over ${sessions.length} open episodes: ${pings} (GET /health before: ${plain}), ` +
    `${(cpuShare * 100).toFixed(0)} % of a core; memory ${megabytes(before)} before, ` +
    `${megabytes(rssBytes)} with them, peak ${megabytes(peakRssBytes)}`
  );
};

/** Latencies of requests that are sent at a steady rate, however long they take. */
const measureSteadily = async (send: (number: number) => Promise<unknown>): Promise<string> => {
  const latenciesMs: number[] = [];
  const pending: Promise<void>[] = [];
  const startedAtMs = performance.now();
  for (let sent = 0; sent < perSecond * seconds; sent += 1) {
    const dueAtMs = startedAtMs + (sent * 1_000) / perSecond;
    while (performance.now() < dueAtMs) await Bun.sleep(1);
    // From when it was due: a late start counts as well.
    pending.push(send(sent).then(() => void latenciesMs.push(performance.now() - dueAtMs)));
  }
  await Promise.all(pending);
  latenciesMs.sort((a, b) => a - b);
  const at = (share: number): string => (latenciesMs[Math.floor(share * latenciesMs.length)] ?? 0).toFixed(1);
  return `p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, longest ${at(1 - 1e-9)} ms`;
};
