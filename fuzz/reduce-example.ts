import type { AnswerRules } from "./check/check-response.ts";
import { findingId, judge } from "./check/find-violations.ts";
import type { Example, Finding } from "./check/findings.ts";
import { applyOddities } from "./generate/make-request.ts";
import type { Plan } from "./generate/plan.ts";
import { isRawJson } from "./generate/raw-json.ts";
import { openConnection } from "./send/connection.ts";
import { type Asked, ask } from "./send/send-request.ts";
import type { Target } from "./target/start-target.ts";

const patienceMs = 10_000;
/** One finding costs no more requests than this. */
const maxTries = 150;

/** Leaves out of a finding's example whatever it does not need, by asking again without. */
export async function reduceExample(finding: Finding, target: Target, rules: AnswerRules): Promise<Finding> {
  const { example } = finding;
  if (example === undefined) return finding;
  const connection = openConnection(target.presage.url, patienceMs);
  let tries = 0;

  async function stillShows(plan: Plan): Promise<Asked | undefined> {
    tries += 1;
    const asked = await ask(plan, `fuzz-${example?.index}-again-${tries}`, target, connection);
    const shows = judge(plan, asked, rules, target).some((fault) => findingId(plan, fault) === finding.id);
    return shows ? asked : undefined;
  }

  let smallest = example;
  for (let left = true; left && tries < maxTries; ) {
    left = false;
    for (const candidate of simpler(smallest)) {
      if (tries >= maxTries) break;
      const asked = await stillShows(candidate.plan);
      if (asked === undefined) continue;
      smallest = { ...candidate, written: asked.written };
      left = true;
      break;
    }
  }
  connection.close();
  return { ...finding, example: smallest };
}

/** The same example with one thing less, each in turn. */
function* simpler(example: Example): Generator<Example> {
  for (const oddity of example.isCut ? [] : example.oddities) {
    const oddities = example.oddities.filter((other) => other !== oddity);
    yield { ...example, oddities, plan: applyOddities(example.base, oddities) };
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

/** The value with one part less. */
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
