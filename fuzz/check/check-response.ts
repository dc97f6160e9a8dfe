import type { ResponseSchemas } from "../document.ts";
import type { Plan } from "../generate/plan.ts";
import { decodeBody, type RawResponse } from "../send/response.ts";

/** A server-sent event. */
export interface ServerEvent {
  name: string;
  data: string;
}

/** The events of a whole stream, without comments; undefined if a client could not read them. */
export function readEvents(text: string): ServerEvent[] | undefined {
  if (!text.endsWith("\n\n")) return undefined;
  const blocks = text.split("\n\n").filter((block) => block !== "" && !block.startsWith(":"));
  const events = blocks.map((block) => /^event: (\w+)\ndata: ([^\n]*)$/.exec(block));
  return events.every((match) => match !== null)
    ? events.map(([, name = "", data = ""]) => ({ name, data }))
    : undefined;
}

/** The level of errors in pino; fatal errors are above it. */
const errorLevel = 50;

export interface LoggedError {
  what: string;
  requestId: string | undefined;
}

/** The errors that a server logged. */
export function findLoggedErrors(log: string): LoggedError[] {
  return log.split("\n").flatMap((line) => {
    const entry = parse(line);
    if (entry === undefined || Number(entry.level) < errorLevel) return [];
    const { type, message } = (entry.err ?? {}) as Record<string, unknown>;
    const what = `logged: ${String(entry.msg)}${type === undefined ? "" : `: ${type}: ${message}`}`;
    return [{ what, requestId: typeof entry.requestId === "string" ? entry.requestId : undefined }];
  });
}

function parse(line: string): Record<string, unknown> | undefined {
  if (!line.startsWith("{")) return undefined;
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

export interface Violation {
  /** Equal for equal violations, whichever request shows them. */
  what: string;
  /** The same for every operation. */
  isTransport?: boolean;
}

export interface ResponseRules {
  schemas: ResponseSchemas;
  /** Whether the upstream fails, so predictions may fail too. */
  isUpstreamFaulty: boolean;
  /** Texts that no response may contain. */
  secrets: readonly string[];
}

const upstreamFailures = new Set([413, 429, 502, 503, 504]);
const keyPattern = /psg_[0-9A-Za-z]{38,}/;

/** Whether a text contains any API key or another secret. */
export function holdsSecret(text: string, secrets: readonly string[]): boolean {
  return keyPattern.test(text) || secrets.some((secret) => text.includes(secret));
}

/** Everything that is wrong with a response. */
export function checkResponse(plan: Plan, response: RawResponse, rules: ResponseRules): Violation[] {
  const { status, headers } = response;
  if (plan.isMalformed && status >= 400 && status < 500 && !headers.has("x-request-id")) return [];
  const violations: Violation[] = [];
  const say = (what: string) => violations.push({ what });

  const violation = statusViolation(plan, status, rules);
  if (violation !== undefined) say(violation);
  if (!headers.has("x-request-id")) say(`${status} without x-request-id`);
  if (status === 503 && !headers.has("retry-after")) say("503 without Retry-After");
  if (status === 405 && !headers.has("allow")) say("405 without Allow");
  if (status === 401 && !headers.has("www-authenticate") && !neverAsks(plan))
    say("401 without WWW-Authenticate");
  if (plan.method === "HEAD") return violations;

  const text = decodeBody(response);
  if (text === undefined) {
    say(`${status} with a body that is not UTF-8 or not encoded as it says`);
    return violations;
  }
  const isNewKey = plan.operation.id === "createApiKey" && status === 201;
  if (!isNewKey && holdsSecret(text, rules.secrets)) {
    say(`${status} with a secret in its body`);
  }
  for (const what of bodyViolations(plan, status, headers.get("content-type"), text, rules)) say(what);
  return violations;
}

/** OpenEnv's clients may have a password, which nothing may ask a person for. */
function neverAsks({ operation }: Plan): boolean {
  return operation.path.includes("/openenv/");
}

function statusViolation(
  plan: Plan,
  status: number,
  { isUpstreamFaulty }: ResponseRules,
): string | undefined {
  const { operation, allows, caller, mayBeUnknown } = plan;
  if (status === 401 && caller === "owner" && !mayBeUnknown) return "a valid key is refused with 401";
  const isOfUpstream = upstreamFailures.has(status) && plan.operation.id in mayFailWithUpstream;
  if (status === 503 && isOfUpstream && isUpstreamFaulty) return undefined;
  if (status >= 500 && !(isOfUpstream && isUpstreamFaulty)) return `${status} without a cause`;
  if (String(status) in operation.responses || allows.includes(status)) return undefined;
  return plan.isMalformed && status < 500 ? undefined : `${status} that the document does not list`;
}

const mayFailWithUpstream: Record<string, true> = {
  predict: true,
  completeChat: true,
  listModels: true,
  getModel: true,
  stepEpisode: true,
};

function bodyViolations(
  { operation, isMalformed }: Plan,
  status: number,
  type: string | undefined,
  text: string,
  { schemas }: ResponseRules,
): string[] {
  if (status === 204) return text === "" ? [] : ["204 with a body"];
  const documented = operation.responses[String(status)]?.content;
  const mediaType = (type ?? "none").split(";")[0]?.trim() ?? "";
  const expected = documented === undefined ? ["application/json"] : Object.keys(documented);
  if (!expected.includes(mediaType)) {
    return isMalformed ? [] : [`${status} of type ${mediaType} where ${expected.join(" or ")} is documented`];
  }
  if (mediaType === "text/event-stream" && operation.path.endsWith("/call")) return eventViolations(text);
  if (mediaType !== "application/json") return [];
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return [`${status} with a body that is not JSON`];
  }
  const findViolation =
    schemas.of(operation, status) ?? (status >= 400 ? schemas.named("ErrorResponse") : undefined);
  const violation = findViolation?.(value);
  return violation === undefined ? [] : [`${status} breaks its schema: ${violation}`];
}

/** A call of the Open Reward Standard names its task, and then has one result or says that there is no such task. */
function eventViolations(text: string): string[] {
  const events = readEvents(text);
  if (events === undefined) return ["events that a client cannot read"];
  const [first, ...others] = events;
  if (first?.name === "error") return others.length === 0 ? [] : ["events after an error"];
  if (first?.name !== "task_id" || others.at(-1)?.name !== "end")
    return ["a call without its task or its end"];
  try {
    const { ok } = JSON.parse(others.map(({ data }) => data).join("")) as { ok?: unknown };
    return typeof ok === "boolean" ? [] : ["a result that does not say whether it is one"];
  } catch {
    return ["a result that is not JSON"];
  }
}
