import type { Plan } from "../generate/plan.ts";
import { decodeBody } from "../send/decode-body.ts";
import type { Asked } from "../send/send-request.ts";
import type { Target } from "../target/start-target.ts";
import { type AnswerRules, checkAnswer, type Fault } from "./check-response.ts";

/** Everything that is wrong with what came of a request. */
export function judge(plan: Plan, asked: Asked, rules: AnswerRules, target: Target): Fault[] {
  const { outcome } = asked;
  if (outcome.kind === "silent") return [{ what: "no answer within a minute" }];
  if (outcome.kind === "closed")
    return plan.isMalformed
      ? []
      : [{ what: `closed without an answer to ${plan.method}`, isOfTransport: true }];
  const faults = checkAnswer(plan, outcome.answer, rules);
  return isForeign(plan, asked, outcome.answer.status, target)
    ? [...faults, { what: `${outcome.answer.status} for a thing of another account` }]
    : faults;
}

/** The same for the same fault, whichever request shows it. */
export function findingId({ operation }: Plan, { what, isOfTransport = false }: Fault): string {
  return isOfTransport ? what : `${operation.id}: ${what}`;
}

/** Whether the request names a thing of another account in its path and was not refused. */
function isForeign(plan: Plan, { account, written }: Asked, status: number, { known }: Target): boolean {
  if (status >= 300 || !isKnownCaller(plan)) return false;
  return written.target.split(/[/?]/).some((text) => {
    const owner = known.ownerOf(text);
    return owner !== undefined && owner !== account;
  });
}

function isKnownCaller({ mayBeUnknown, caller }: Plan): boolean {
  return !mayBeUnknown && caller !== "nobody";
}

/** Keeps what a good answer tells, for later requests. */
export function learn(plan: Plan, { outcome, account }: Asked, target: Target): void {
  if (
    outcome.kind !== "answer" ||
    outcome.answer.status >= 300 ||
    plan.mayBeUnknown ||
    plan.method === "HEAD"
  )
    return;
  if (outcome.answer.headers.get("content-type")?.startsWith("application/json") !== true) return;
  const text = decodeBody(outcome.answer);
  try {
    if (text !== undefined) target.known.learn(plan.operation, JSON.parse(text), account);
  } catch {
    // That it is no JSON is a finding already.
  }
}
