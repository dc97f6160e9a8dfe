import type { ResponseRules } from "./check/check-response.ts";
import { findingId, findViolations } from "./check/find-violations.ts";
import type { Example, Finding } from "./check/findings.ts";
import { applyMutations } from "./generate/make-request.ts";
import type { Plan } from "./generate/plan.ts";
import { isRawJson } from "./generate/raw-json.ts";
import { openConnection } from "./send/connection.ts";
import { type Exchange, sendRequest } from "./send/send-request.ts";
import type { Target } from "./target/start-target.ts";

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
