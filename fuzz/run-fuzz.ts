import { readMemory } from "../bench/lib/usage.ts";
import { findLoggedErrors, holdsSecret, type ResponseRules } from "./check/check-response.ts";
import { findingId, findViolations, learn, reduceExample } from "./check/find-violations.ts";
import {
  createFindings,
  describeFinding,
  type Example,
  type Finding,
  type Findings,
} from "./check/findings.ts";
import { compileResponseSchemas, readDocument } from "./document.ts";
import { applyMutations, createRequestMaker } from "./generate/make-request.ts";
import { collectLimits } from "./generate/vocabulary.ts";
import { createRecentRequests, type Exchange, sendRequest } from "./send/request.ts";
import { type Connection, openConnection } from "./send/response.ts";
import { fuzzSockets } from "./sockets.ts";
import { type HealthSample, type Target, type UpstreamKind, watchHealth } from "./target/target.ts";

export interface FuzzPlan {
  seed: number;
  /** The number of the first request; the others follow. */
  firstIndex: number;
  requests: number;
  concurrency: number;
  /** Maximum latency of `/health`. */
  maxHealthMs: number;
  maxMemoryBytes: number;
  onProgress(done: number): void;
}

export interface FuzzReport {
  upstream: UpstreamKind;
  findings: Finding[];
  /** Number of responses by operation and status. */
  responses: Map<string, Map<number, number>>;
  tookMs: number;
  slowestHealthMs: number;
  healthRequests: number;
  /** The server's memory, if the system reports it. */
  memory: { peakBytes: number; endBytes: number } | undefined;
  slowest: { ms: number; what: string };
}

const timeoutMs = 60_000;
/** How many messages are sent on WebSockets for each request. */
const messagesByRequest = 0.2;
/** Wait after the last request before the memory is measured. */
const settleMs = 300;

/** Sends the requests of a seed to a server and reports everything that is wrong with its responses. */
export async function runFuzz(target: Target, plan: FuzzPlan): Promise<FuzzReport> {
  const { presage, upstream } = target;
  const document = await readDocument(presage.url);
  const schemas = compileResponseSchemas(document);
  const makeRequest = createRequestMaker(plan.seed, document, target.served);
  const secrets = [target.ownerKey, target.strangerKey, ...target.sessions.map(({ token }) => token)];
  const rules = { schemas, isUpstreamFaulty: upstream === "faulty", secrets };
  const findings = createFindings();
  const responses: FuzzReport["responses"] = new Map();
  const recent = createRecentRequests();
  const slowest = { ms: 0, what: "" };
  let isOver = false;
  presage.exited.then((code) => {
    if (!isOver)
      findings.add(`the process exited with ${code}`, recent.inFlight(Date.now(), Date.now()), undefined);
    isOver = true;
  });

  const health = watchHealth(presage.url, presage.pid, (sample) => {
    if (isOver) return;
    const during = () => recent.inFlight(sample.startedAt, sample.startedAt + sample.tookMs);
    judgeHealth(sample, plan.maxHealthMs, during, findings);
  });

  const attempts = { makeRequest, target, rules, findings, responses, recent, slowest };
  const startedAtMs = performance.now();
  let next = plan.firstIndex;
  const end = plan.firstIndex + plan.requests;
  async function work(): Promise<void> {
    const connection = openConnection(presage.url, timeoutMs);
    while (next < end && !isOver) {
      const index = next++;
      await tryOne(index, connection, attempts);
      plan.onProgress(index + 1);
    }
    connection.close();
  }
  await Promise.all(Array.from({ length: plan.concurrency }, work));
  if (!isOver && plan.requests > 1) {
    const messages = Math.round(plan.requests * messagesByRequest);
    await fuzzSockets(
      target,
      { seed: plan.seed, messages, limits: collectLimits(document), secrets },
      findings,
    );
  }
  const tookMs = performance.now() - startedAtMs;
  await Bun.sleep(settleMs);
  health.stop();

  const memory = isOver ? undefined : measureMemory(presage.pid);
  if (memory !== undefined && memory.peakBytes > plan.maxMemoryBytes) {
    findings.add("too much memory is used", `${megabytes(memory.peakBytes)} MB at peak`, undefined);
  }
  await checkServerAfterwards(presage, secrets, findings);
  const reduced: Finding[] = [];
  for (const finding of findings.all())
    reduced.push(isOver ? finding : await reduceExample(finding, target, rules));
  isOver = true;
  return {
    upstream,
    findings: reduced,
    responses,
    tookMs,
    slowestHealthMs: health.slowestMs(),
    healthRequests: health.requests(),
    memory,
    slowest,
  };
}

interface Attempts {
  makeRequest: ReturnType<typeof createRequestMaker>;
  target: Target;
  rules: ResponseRules;
  findings: Findings;
  responses: FuzzReport["responses"];
  recent: ReturnType<typeof createRecentRequests>;
  slowest: FuzzReport["slowest"];
}

/** Sends the request with this number and judges its response. */
async function tryOne(
  index: number,
  connection: Connection,
  { makeRequest, target, rules, findings, responses, recent, slowest }: Attempts,
): Promise<void> {
  const { base, mutations } = makeRequest(index);
  const one = applyMutations(base, mutations);
  const name = `${one.operation.id} (${mutations.map(({ name }) => name).join(", ") || "no mutation"})`;
  const finished = recent.begin(`#${index} ${name}`);
  const exchange = await sendRequest(one, `fuzz-${index}`, target, connection);
  finished();
  if (exchange.tookMs > slowest.ms)
    Object.assign(slowest, { ms: exchange.tookMs, what: `#${index} ${name}` });
  count(responses, one.operation.id, exchange);
  learn(one, exchange, target);
  for (const violation of findViolations(one, exchange, rules, target)) {
    const example: Example = {
      index,
      base,
      mutations,
      isCut: false,
      plan: one,
      written: exchange.written,
      response: responseText(exchange),
    };
    findings.add(findingId(one, violation), undefined, example);
  }
}

/** `/health` answers, and in time whatever else the server does. */
function judgeHealth(
  { tookMs, machineMs, status }: HealthSample,
  maxHealthMs: number,
  during: () => string,
  findings: Findings,
): void {
  if (status !== 200) findings.add(`/health answers with ${status || "nothing"}`, during(), undefined);
  if (tookMs - machineMs > maxHealthMs) {
    findings.add(
      `/health takes longer than ${maxHealthMs} ms`,
      `${Math.round(tookMs - machineMs)} ms, plus ${Math.round(machineMs)} ms caused by the machine\n${during()}`,
      undefined,
    );
  }
}

/** The first key still works, and the log has neither secrets nor errors. */
async function checkServerAfterwards(
  presage: Target["presage"],
  secrets: readonly string[],
  findings: Findings,
): Promise<void> {
  const me = await presage.call("GET", "/v1/me").catch(() => undefined);
  if (me?.status !== 200)
    findings.add("the owner's key no longer works at the end", String(me?.status), undefined);
  const log = await presage.stdout();
  if (holdsSecret(log, secrets)) findings.add("a secret is in the log", undefined, undefined);
  for (const { what, requestId } of findLoggedErrors(log)) {
    findings.add(what, `request ${requestId ?? "unknown"}`, undefined);
  }
}

function count(responses: FuzzReport["responses"], operation: string, { outcome }: Exchange): void {
  const status = outcome.kind === "response" ? outcome.response.status : 0;
  const byStatus = responses.get(operation) ?? new Map<number, number>();
  responses.set(operation, byStatus.set(status, (byStatus.get(status) ?? 0) + 1));
}

function responseText({ outcome }: Exchange): string {
  if (outcome.kind !== "response") return outcome.kind;
  return `${outcome.response.status} ${outcome.response.body.subarray(0, 1_000).toString()}`;
}

/** Linux only. */
function measureMemory(pid: number): FuzzReport["memory"] {
  if (process.platform !== "linux") return undefined;
  const { peakRssBytes, rssBytes } = readMemory(pid);
  return { peakBytes: peakRssBytes, endBytes: rssBytes };
}

function megabytes(bytes: number): number {
  return Math.round(bytes / 1e6);
}

/** The findings of a run and its statistics. */
export function writeReport(report: FuzzReport, seed: number): string {
  const { upstream, findings, responses, tookMs, slowestHealthMs, healthRequests, memory, slowest } = report;
  const rows = [...responses]
    .sort(([a], [b]) => a.localeCompare(b))
    .map(([operation, byStatus]) => {
      const counts = [...byStatus]
        .sort(([a], [b]) => a - b)
        .map(([status, count]) => `${status || "none"} × ${count}`);
      return `  ${operation.padEnd(30)} ${counts.join(", ")}`;
    });
  const total = [...responses.values()]
    .flatMap((byStatus) => [...byStatus.values()])
    .reduce((a, b) => a + b, 0);
  const lines = [
    `Upstream: ${upstream}; ${total} requests in ${(tookMs / 1000).toFixed(1)} s`,
    ...rows,
    `  slowest response: ${slowest.ms.toFixed(0)} ms, ${slowest.what}`,
    `  /health: slowest of ${healthRequests} responses: ${slowestHealthMs.toFixed(0)} ms`,
    ...(memory === undefined
      ? []
      : [`  memory: ${megabytes(memory.peakBytes)} MB at most, ${megabytes(memory.endBytes)} MB at the end`]),
    ...findings.map((finding) => describeFinding(finding, seed)),
    findings.length === 0 ? "  no findings" : `  ${findings.length} findings`,
  ];
  return `${lines.join("\n")}\n`;
}
