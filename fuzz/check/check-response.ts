import type { AnswerSchemas } from "../document/compile-response-schemas.ts";
import type { Plan } from "../generate/plan.ts";
import { decodeBody } from "../send/decode-body.ts";
import type { Answer } from "../send/read-response.ts";

export interface Fault {
  /** The same for the same fault, whichever request shows it. */
  what: string;
  /** The same for every operation. */
  isOfTransport?: boolean;
}

export interface AnswerRules {
  schemas: AnswerSchemas;
  /** Whether the upstream fails, so that predictions may. */
  isUpstreamFaulty: boolean;
  /** What no answer may hold. */
  secrets: readonly string[];
}

const upstreamFailures = new Set([413, 429, 502, 503, 504]);
const keyPattern = /psg_[0-9A-Za-z]{38,}/;

/** Whether a text has a key in it, anybody's, or another secret. */
export function holdsSecret(text: string, secrets: readonly string[]): boolean {
  return keyPattern.test(text) || secrets.some((secret) => text.includes(secret));
}

/** Everything that is wrong with an answer. */
export function checkAnswer(plan: Plan, answer: Answer, rules: AnswerRules): Fault[] {
  const { status, headers } = answer;
  if (plan.isMalformed && status >= 400 && status < 500 && !headers.has("x-request-id")) return [];
  const faults: Fault[] = [];
  const say = (what: string) => faults.push({ what });

  const fault = statusFault(plan, status, rules);
  if (fault !== undefined) say(fault);
  if (!headers.has("x-request-id")) say(`${status} without x-request-id`);
  if (status === 503 && !headers.has("retry-after")) say("503 without Retry-After");
  if (status === 405 && !headers.has("allow")) say("405 without Allow");
  if (status === 401 && !headers.has("www-authenticate")) say("401 without WWW-Authenticate");
  if (plan.method === "HEAD") return faults;

  const text = decodeBody(answer);
  if (text === undefined) {
    say(`${status} with a body that is not UTF-8 or not encoded as it says`);
    return faults;
  }
  const isNewKey = plan.operation.id === "createApiKey" && status === 201;
  if (!isNewKey && holdsSecret(text, rules.secrets)) {
    say(`${status} with a secret in its body`);
  }
  for (const what of bodyFaults(plan, status, headers.get("content-type"), text, rules)) say(what);
  return faults;
}

function statusFault(plan: Plan, status: number, { isUpstreamFaulty }: AnswerRules): string | undefined {
  const { operation, allows, caller, mayBeUnknown } = plan;
  if (status === 401 && caller === "owner" && !mayBeUnknown) return "a good key is refused with 401";
  const isOfUpstream = upstreamFailures.has(status) && plan.operation.id in mayFailWithUpstream;
  if (status === 503 && isOfUpstream && isUpstreamFaulty) return undefined;
  if (status >= 500 && !(isOfUpstream && isUpstreamFaulty)) return `${status} that was not asked for`;
  if (String(status) in operation.answers || allows.includes(status)) return undefined;
  return plan.isMalformed && status < 500 ? undefined : `${status} that the document does not name`;
}

const mayFailWithUpstream: Record<string, true> = { predict: true, completeChat: true, listModels: true };

function bodyFaults(
  { operation, isMalformed }: Plan,
  status: number,
  type: string | undefined,
  text: string,
  { schemas }: AnswerRules,
): string[] {
  if (status === 204) return text === "" ? [] : ["204 with a body"];
  const documented = operation.answers[String(status)]?.content;
  const mediaType = (type ?? "none").split(";")[0]?.trim() ?? "";
  const expected = documented === undefined ? ["application/json"] : Object.keys(documented);
  if (!expected.includes(mediaType)) {
    return isMalformed ? [] : [`${status} of type ${mediaType} where ${expected.join(" or ")} is documented`];
  }
  if (mediaType !== "application/json") return [];
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return [`${status} with a body that is not JSON`];
  }
  const findFault =
    schemas.of(operation, status) ?? (status >= 400 ? schemas.named("ErrorResponse") : undefined);
  const fault = findFault?.(value);
  return fault === undefined ? [] : [`${status} breaks its schema: ${fault}`];
}
