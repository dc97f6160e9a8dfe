import type { Plan } from "../generate/plan.ts";
import { decodeBody } from "../send/decode-body.ts";
import type { Exchange } from "../send/send-request.ts";
import type { Target } from "../target/start-target.ts";
import { checkResponse, type ResponseRules, type Violation } from "./check-response.ts";
import { readEvents } from "./read-events.ts";

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
