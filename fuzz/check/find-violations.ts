import { isRawJson } from "../generate/draw.ts";
import { applyMutations } from "../generate/make-request.ts";
import type { Plan } from "../generate/plan.ts";
import { type Exchange, sendRequest } from "../send/request.ts";
import { decodeBody, openConnection } from "../send/response.ts";
import type { Target } from "../target/target.ts";
import { checkResponse, type ResponseRules, readEvents, type Violation } from "./check-response.ts";
import type { Example, Finding } from "./findings.ts";

/** Everything that is wrong with the outcome of a request. */
export function findViolations(
  plan: Plan,
  exchange: Exchange,
  rules: ResponseRules,
  target: Target,
): Violation[] {
  const { outcome } = exchange;
  if (outcome.kind === "silent") return [{ what: "no response within a minute" }];
  if (outcome.kind === "closed")
    return plan.isMalformed
      ? []
      : [{ what: `closed without a response to ${plan.method}`, isTransport: true }];
  const violations = checkResponse(plan, outcome.response, rules);
  return isForeign(plan, exchange, outcome.response.status, target)
    ? [...violations, { what: `${outcome.response.status} for an object of another account` }]
    : violations;
}

/** Equal for equal violations, whichever request shows them. */
export function findingId({ operation }: Plan, { what, isTransport = false }: Violation): string {
  return isTransport ? what : `${operation.id}: ${what}`;
}

/** Whether the request succeeded although its path or its session is of another account. */
function isForeign(plan: Plan, { account, written }: Exchange, status: number, { known }: Target): boolean {
  if (status >= 300 || !isKnownCaller(plan)) return false;
  const sessions = written.headers.filter(([name]) => name === "X-Session-ID").map(([, value]) => value);
  return [...written.target.split(/[/?]/), ...sessions].some((text) => {
    const owner = known.ownerOf(text);
    return owner !== undefined && owner !== account;
  });
}

function isKnownCaller({ mayBeUnknown, caller }: Plan): boolean {
  return !mayBeUnknown && caller !== "nobody";
}

/** Stores the ids of a successful response for later requests. */
export function learn(plan: Plan, { outcome, account }: Exchange, target: Target): void {
  if (
    outcome.kind !== "response" ||
    outcome.response.status >= 300 ||
    plan.mayBeUnknown ||
    plan.method === "HEAD"
  )
    return;
  const type = outcome.response.headers.get("content-type") ?? "";
  const text = decodeBody(outcome.response);
  if (text === undefined) return;
  if (type.startsWith("text/event-stream")) {
    const [event] = readEvents(text) ?? [];
    if (event?.name === "task_id") target.known.learn(plan.operation, { task_id: event.data }, account);
  }
  if (!type.startsWith("application/json")) return;
  try {
    target.known.learn(plan.operation, JSON.parse(text), account);
  } catch {
    // Invalid JSON has already been reported as a finding.
  }
}

const timeoutMs = 10_000;
/** The most requests spent on one finding. */
const maxTries = 150;

/** Removes everything that a finding's example does not need, by sending the request again without it. */
export async function reduceExample(
  finding: Finding,
  target: Target,
  rules: ResponseRules,
): Promise<Finding> {
  const { example } = finding;
  if (example === undefined) return finding;
  const connection = openConnection(target.presage.url, timeoutMs);
  let tries = 0;

  async function stillShows(plan: Plan): Promise<Exchange | undefined> {
    tries += 1;
    const exchange = await sendRequest(plan, `fuzz-${example?.index}-again-${tries}`, target, connection);
    const shows = findViolations(plan, exchange, rules, target).some(
      (violation) => findingId(plan, violation) === finding.id,
    );
    return shows ? exchange : undefined;
  }

  let smallest = example;
  for (let left = true; left && tries < maxTries; ) {
    left = false;
    for (const candidate of simpler(smallest)) {
      if (tries >= maxTries) break;
      const exchange = await stillShows(candidate.plan);
      if (exchange === undefined) continue;
      smallest = { ...candidate, written: exchange.written };
      left = true;
      break;
    }
  }
  connection.close();
  return { ...finding, example: smallest };
}

/** All variants of the example with one element removed. */
function* simpler(example: Example): Generator<Example> {
  for (const mutation of example.isCut ? [] : example.mutations) {
    const mutations = example.mutations.filter((other) => other !== mutation);
    yield { ...example, mutations, plan: applyMutations(example.base, mutations) };
  }
  const { plan } = example;
  const without = (change: Partial<Plan>): Example => ({
    ...example,
    plan: { ...plan, ...change },
    isCut: true,
  });
  for (const item of plan.query) yield without({ query: plan.query.filter((other) => other !== item) });
  for (const item of plan.headers) yield without({ headers: plan.headers.filter((other) => other !== item) });
  for (const body of simplerValues(plan.body)) yield without({ body });
}

/** All variants of the value with one part removed. */
function* simplerValues(value: unknown): Generator<unknown> {
  if (typeof value !== "object" || value === null || isRawJson(value)) return;
  if (Array.isArray(value)) {
    if (value.length > 3) yield value.slice(0, Math.ceil(value.length / 2));
    for (const index of [...value.keys()].slice(0, 10)) {
      yield value.toSpliced(index, 1);
      for (const part of simplerValues(value[index])) yield value.with(index, part);
    }
    return;
  }
  for (const [name, part] of Object.entries(value)) {
    const { [name]: _, ...rest } = value as Record<string, unknown>;
    yield rest;
    for (const simplerPart of simplerValues(part)) yield { ...value, [name]: simplerPart };
  }
}
