import { readMemory } from "../bench/host/process-account.ts";
import { findLoggedErrors } from "./check/check-log.ts";
import { holdsSecret } from "./check/check-response.ts";
import { findingId, judge, learn } from "./check/find-violations.ts";
import { createFindings, type Example, type Finding } from "./check/findings.ts";
import { compileAnswers } from "./document/compile-response-schemas.ts";
import { readDocument } from "./document/read-document.ts";
import { applyOddities, createRequestMaker } from "./generate/make-request.ts";
import { reduceExample } from "./reduce-example.ts";
import { type Connection, openConnection } from "./send/connection.ts";
import { createRecentRequests } from "./send/recent-requests.ts";
import { type Asked, ask } from "./send/send-request.ts";
import type { Target, UpstreamKind } from "./target/start-target.ts";
import { watchHealth } from "./target/watch-health.ts";

export interface FuzzPlan {
  seed: number;
  /** Of the first request; the others follow. */
  firstIndex: number;
  requests: number;
  concurrency: number;
  /** Of an answer of `/health`. */
  maxHealthMs: number;
  maxMemoryBytes: number;
  onProgress(done: number): void;
}

export interface FuzzReport {
  upstream: UpstreamKind;
  findings: Finding[];
  /** How many answers, by operation and status. */
  answers: Map<string, Map<number, number>>;
  tookMs: number;
  slowestHealthMs: number;
  healthAsked: number;
  /** Of the server, and where the system tells. */
  memory: { peakBytes: number; endBytes: number } | undefined;
  slowest: { ms: number; what: string };
}

const patienceMs = 60_000;
/** After the last request, until the memory is looked at. */
const settleMs = 300;

/** Sends the requests of a seed to a server and tells everything that is wrong with what comes back. */
export async function runFuzz(target: Target, plan: FuzzPlan): Promise<FuzzReport> {
  const { presage, upstream } = target;
  const document = await readDocument(presage.url);
  const schemas = compileAnswers(document);
  const makeRequest = createRequestMaker(plan.seed, document, target.served);
  const secrets = [target.ownerKey, target.strangerKey, ...target.sessions.map(({ token }) => token)];
  const rules = { schemas, isUpstreamFaulty: upstream === "faulty", secrets };
  const findings = createFindings();
  const answers: FuzzReport["answers"] = new Map();
  const recent = createRecentRequests();
  let slowest = { ms: 0, what: "" };
  let isOver = false;
  presage.exited.then((code) => {
    if (!isOver)
      findings.add(`the process ended with ${code}`, recent.underWay(Date.now(), Date.now()), undefined);
    isOver = true;
  });

  const health = watchHealth(presage.url, presage.pid, ({ startedAt, tookMs, heldUpMs, status }) => {
    if (isOver) return;
    const during = () => recent.underWay(startedAt, startedAt + tookMs);
    if (status !== 200) findings.add(`/health answers ${status || "nothing"}`, during(), undefined);
    if (tookMs - heldUpMs > plan.maxHealthMs) {
      findings.add(
        `/health takes longer than ${plan.maxHealthMs} ms`,
        `${Math.round(tookMs - heldUpMs)} ms, and ${Math.round(heldUpMs)} ms for the machine\n${during()}`,
        undefined,
      );
    }
  });

  async function tryOne(index: number, connection: Connection): Promise<void> {
    const { base, oddities } = makeRequest(index);
    const one = applyOddities(base, oddities);
    const name = `${one.operation.id} (${oddities.map(({ name }) => name).join(", ") || "nothing odd"})`;
    const finished = recent.begin(`#${index} ${name}`);
    const asked = await ask(one, `fuzz-${index}`, target, connection);
    finished();
    if (asked.tookMs > slowest.ms) slowest = { ms: asked.tookMs, what: `#${index} ${name}` };
    count(answers, one.operation.id, asked);
    learn(one, asked, target);
    for (const fault of judge(one, asked, rules, target)) {
      const example: Example = {
        index,
        base,
        oddities,
        isCut: false,
        plan: one,
        written: asked.written,
        answered: answeredText(asked),
      };
      findings.add(findingId(one, fault), undefined, example);
    }
  }

  const startedAtMs = performance.now();
  let next = plan.firstIndex;
  const end = plan.firstIndex + plan.requests;
  async function work(): Promise<void> {
    const connection = openConnection(presage.url, patienceMs);
    while (next < end && !isOver) {
      const index = next++;
      await tryOne(index, connection);
      plan.onProgress(index + 1);
    }
    connection.close();
  }
  await Promise.all(Array.from({ length: plan.concurrency }, work));
  const tookMs = performance.now() - startedAtMs;
  await Bun.sleep(settleMs);
  health.stop();

  const memory = isOver ? undefined : measureMemory(presage.pid);
  if (memory !== undefined && memory.peakBytes > plan.maxMemoryBytes) {
    findings.add("the memory grows", `${megabytes(memory.peakBytes)} MB at most`, undefined);
  }
  const me = await presage.call("GET", "/v1/me").catch(() => undefined);
  if (me?.status !== 200)
    findings.add("the owner's key does not work at the end", String(me?.status), undefined);
  const log = await presage.stdout();
  if (holdsSecret(log, secrets)) findings.add("a secret is in the log", undefined, undefined);
  for (const { what, requestId } of findLoggedErrors(log)) {
    findings.add(what, `request ${requestId ?? "unknown"}`, undefined);
  }
  const reduced: Finding[] = [];
  for (const finding of findings.all())
    reduced.push(isOver ? finding : await reduceExample(finding, target, rules));
  isOver = true;
  return {
    upstream,
    findings: reduced,
    answers,
    tookMs,
    slowestHealthMs: health.slowestMs(),
    healthAsked: health.asked(),
    memory,
    slowest,
  };
}

function count(answers: FuzzReport["answers"], operation: string, { outcome }: Asked): void {
  const status = outcome.kind === "answer" ? outcome.answer.status : 0;
  const byStatus = answers.get(operation) ?? new Map<number, number>();
  answers.set(operation, byStatus.set(status, (byStatus.get(status) ?? 0) + 1));
}

function answeredText({ outcome }: Asked): string {
  if (outcome.kind !== "answer") return outcome.kind;
  return `${outcome.answer.status} ${outcome.answer.body.subarray(0, 1_000).toString()}`;
}

/** Only Linux tells. */
function measureMemory(pid: number): FuzzReport["memory"] {
  if (process.platform !== "linux") return undefined;
  const { peakRssBytes, rssBytes } = readMemory(pid);
  return { peakBytes: peakRssBytes, endBytes: rssBytes };
}

function megabytes(bytes: number): number {
  return Math.round(bytes / 1e6);
}
