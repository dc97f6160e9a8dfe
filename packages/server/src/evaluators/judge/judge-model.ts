import { setTimeout as sleep } from "node:timers/promises";
import { jsonrepair } from "jsonrepair";
import { LRUCache } from "lru-cache";
import pRetry from "p-retry";
import type { z } from "zod";
import type { Stretch } from "../../platform/contacts.ts";
import { UpstreamError } from "../../platform/errors.ts";
import type { FairSlots } from "../../platform/limits/turns.ts";
import type { ChatParent } from "../../platform/observability/tracing.ts";
import {
  countCalls,
  endOfThinking,
  type ModelUse,
  readMessage,
  startsWithThinking,
  traceCompletion,
} from "../../upstream/completion.ts";
import type { Upstream } from "../../upstream/create-upstream.ts";
import { retryAfterMs } from "../../upstream/failures.ts";
import type { CompletionChoice, CompletionRequest, UpstreamCompletion } from "../../upstream/upstream.ts";
import { EvaluationError } from "../outcome.ts";
import type { Complaint, ResponseFormatName } from "./prompts.ts";

const retries = 5;
const minPauseMs = 250;
/** Longer pauses are not waited for. */
const maxPauseMs = 60_000;
const releaseAfterAbortMs = 10;

/** The model, and the limit on concurrent calls to it. */
export interface JudgeModel {
  complete: Upstream["complete"];
  slots: FairSlots;
  /** Called after each call to the model, to count the account's usage. */
  recordCall?: ((use: ModelUse) => void) | undefined;
}

/** On whose behalf a judge calls its model, and for how long. */
export interface JudgeCall {
  accountId: string;
  profilePublicId: string;
  /** The key of the client's request; for a session, the user. Undefined if not known. */
  keyId?: string | undefined;
  /** Aborted at the evaluation's deadline, and when the client disconnects. */
  signal: AbortSignal;
  /** Says whether the whole request may call a model again after a failure, and counts it. */
  mayRetry(): boolean;
  /** The span that the call is traced under. */
  span?: ChatParent | undefined;
}

/** Completes in the account's turn. Where the rate is limited, it waits as long as the upstream says and tries again. */
export async function completeWithRetries(
  { complete, slots, recordCall }: JudgeModel,
  request: CompletionRequest,
  { accountId, keyId, signal, mayRetry, span }: Omit<JudgeCall, "profilePublicId">,
): Promise<UpstreamCompletion> {
  const spender = { accountId, keyId };
  const options = { mayRetry, purpose: "judges" as const, spender };
  const counted = countCalls(complete, spender, recordCall);
  let limited: UpstreamError | undefined;
  // A pause occupies no slot, so that others can use it meanwhile.
  const attempt = async () => {
    const release = await slots.take(accountId, signal).catch(() => {
      // The deadline passed, or the client disconnected, before the call had its turn.
      throw (
        limited ??
        new EvaluationError(
          "overloaded",
          "Too many evaluations are waiting for the judge's model. Try again later, or raise PRESAGE_JUDGE_MAX_IN_FLIGHT.",
        )
      );
    });
    limited = undefined;
    try {
      return await traceCompletion(counted, span, request, signal, options);
    } finally {
      // Calls of one request share its deadline. After a moment all have left the queue, so that none of them gets the slot in vain.
      if (signal.aborted) setTimeout(release, releaseAfterAbortMs);
      else release();
    }
  };
  try {
    return await pRetry(attempt, {
      retries,
      signal,
      minTimeout: minPauseMs,
      randomize: true,
      async shouldRetry({ error }) {
        if (!(error instanceof UpstreamError) || error.category !== "rate_limit") return false;
        const pauseMs = retryAfterMs(error.retryAfter);
        if (pauseMs > maxPauseMs || !mayRetry()) return false;
        limited = error;
        await sleep(pauseMs, undefined, { signal });
        return true;
      },
    });
  } catch (error) {
    throw limited ?? error;
  }
}

/** More than any verdict needs; the end of the text counts. */
const maxCharacters = 200_000;
/** Repairing takes quadratic time: 100 ms at worst for this many characters. */
const maxRepairedCharacters = 10_000;
const objectStart = /\{\s*"/g;

export interface FoundObject {
  /** The object's text as the model wrote it. */
  source: string;
  value: unknown;
}

/**
 * The objects that a model wrote among other text, the last first, repaired where they are broken. Nested objects are
 * ignored, as the judged text may be quoted there. It stops at an object that cannot be read, which may be the real verdict.
 */
export function* jsonInText(answer: string, decidingKey: string): Generator<FoundObject> {
  const text = answer.slice(-maxCharacters);
  for (const { start, end } of outermostObjects(text).toReversed()) {
    const source = text.slice(start, end);
    const value = tryParse(source) ?? tryRepaired(source, decidingKey);
    if (value === undefined) return;
    yield { source, value };
  }
}

/** The objects that are not inside another. The last one may be incomplete. */
function outermostObjects(text: string): Stretch[] {
  const objects: Stretch[] = [];
  let end = 0;
  for (const { index } of text.matchAll(objectStart)) {
    if (index < end) continue;
    end = endOfObject(text, index);
    objects.push({ start: index, end });
  }
  return objects.length === 0 ? looseObject(text) : objects;
}

function endOfObject(text: string, start: number): number {
  let depth = 0;
  let isInString = false;
  for (let at = start; at < text.length; at += 1) {
    const character = text[at];
    if (isInString) {
      if (character === "\\") at += 1;
      else if (character === '"') isInString = false;
    } else if (character === '"') isInString = true;
    else if (character === "{") depth += 1;
    else if (character === "}") {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return text.length;
}

/** An object in single quotes, or with unquoted keys. */
function looseObject(text: string): Stretch[] {
  const start = text.indexOf("{");
  const end = text.lastIndexOf("}");
  return start === -1 ? [] : [{ start, end: end > start ? end + 1 : text.length }];
}

function tryParse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function tryRepaired(text: string, decidingKey: string): unknown {
  if (text.length > maxRepairedCharacters) return undefined;
  try {
    const repaired = jsonrepair(text);
    // An unescaped quotation can become a second such key; then it is unclear which of the two was meant.
    const isClear = repaired.split(new RegExp(`"${decidingKey}"\\s*:`)).length === 2;
    return isClear ? JSON.parse(repaired) : undefined;
  } catch {
    return undefined;
  }
}

const maxProfiles = 1_000;
/** The most models remembered for a profile: a deployment rarely changes its model. */
const maxModels = 10;
/** Capabilities are forgotten after this time, because a server may be replaced under the same name. */
const knownForMs = 60 * 60 * 1000;

/** What has been learned about a model, to ask it in a way that works. */
export interface ModelCapabilities {
  /** Empty if the model has sent no name, or nothing is known about it. */
  model: string;
  format: ResponseFormatName;
  /** Whether the model has given a verdict in this format before. */
  isProven: boolean;
  takesTemperature: boolean;
  /** Whether it needs more tokens than a verdict has. */
  needsRoom: boolean;
  tokenLimitField: "max_tokens" | "max_completion_tokens";
}

const unknownModel: ModelCapabilities = {
  model: "",
  format: "json_schema",
  isProven: false,
  takesTemperature: true,
  needsRoom: false,
  tokenLimitField: "max_tokens",
};

/** The capabilities that each profile has found out by itself. After an eviction they are detected again. */
export function rememberCapabilities(): (profile: string) => CapabilityMemory {
  const byProfile = new LRUCache<string, CapabilityMemory>({ max: maxProfiles });
  return (profile) => {
    const known = byProfile.get(profile) ?? createCapabilityMemory();
    byProfile.set(profile, known);
    return known;
  };
}

export type CapabilityMemory = ReturnType<typeof createCapabilityMemory>;

function createCapabilityMemory() {
  const byModel = new LRUCache<string, ModelCapabilities>({
    max: maxModels,
    ttl: knownForMs,
    noUpdateTTL: true,
  });
  let lastModel = "";
  return {
    /** The capabilities of the model that responded last: a deployment names its model only in a response. */
    recall: (): ModelCapabilities => byModel.get(lastModel) ?? unknownModel,
    learn(model: string, capabilities: ModelCapabilities): void {
      lastModel = model;
      // A model that responds in place of another was asked in the way that suits the other, and may support a better one.
      if (capabilities.model === "" || capabilities.model === model)
        byModel.set(model, { ...capabilities, model });
    },
    forget: (model: string): void => void byModel.delete(model),
  };
}

interface ResponseFormat {
  /** The fields that the format adds to the request. */
  fields(form: VerdictForm<unknown>): Record<string, unknown>;
  /** The parts of the response that may be the verdict, the most likely first. */
  candidates(choice: CompletionChoice, form: VerdictForm<unknown>, prompt: string): Iterable<unknown>;
}

export const responseFormats: Record<ResponseFormatName, ResponseFormat> = {
  json_schema: {
    fields: ({ name, jsonSchema }) => ({
      response_format: { type: "json_schema", json_schema: { name, strict: true, schema: jsonSchema } },
    }),
    // A server that enforces the schema sends nothing else; one that sends more has ignored it.
    *candidates(choice, _, prompt) {
      const answer = answerOf(choice);
      if (!isQuotedFrom(prompt)(answer)) yield tryParse(answer);
    },
  },
  tool_call: {
    fields: ({ name, jsonSchema }) => ({
      tools: [
        { type: "function", function: { name, description: "Gives the verdict.", parameters: jsonSchema } },
      ],
      tool_choice: { type: "function", function: { name } },
    }),
    *candidates(choice, { name }, prompt) {
      const given = toolArguments(choice, name);
      const source = typeof given === "string" ? given : (JSON.stringify(given) ?? "");
      if (!isQuotedFrom(prompt)(source)) yield tryParse(source);
    },
  },
  text: {
    fields: () => ({}),
    *candidates(choice, { decidingKey }, prompt) {
      const isQuoted = isQuotedFrom(prompt);
      for (const { source, value } of jsonInText(answerOf(choice), decidingKey)) {
        if (!isQuoted(source)) yield value;
      }
    },
  },
};

/** The model's answer without thoughts before it. Some servers send all of it as reasoning, where an object before the end is a draft. */
function answerOf(choice: CompletionChoice): string {
  const { content, reasoning = "" } = readMessage(choice);
  const answer = withoutThinking(content);
  if (answer !== "") return answer;
  const thought = withoutThinking(reasoning);
  const text = (thought.endsWith("```") ? thought.slice(0, -3) : thought).trimEnd();
  return text.endsWith("}") && outermostObjects(text).at(-1)?.end === text.length ? thought : "";
}

function withoutThinking(said: string): string {
  const text = said.trim();
  const end = endOfThinking(text) ?? 0;
  // An answer that has begun may mention such a block.
  return text.startsWith("{") || isInObject(text, end) ? text : text.slice(end).trim();
}

/** Whether thoughts seem to end inside an object, such as one in a code fence that quotes `</think>`. */
function isInObject(text: string, end: number): boolean {
  if (end === 0 || startsWithThinking(text)) return false;
  return outermostObjects(text).some(
    (object) =>
      object.start < end && end < object.end && tryParse(text.slice(object.start, object.end)) !== undefined,
  );
}

/** The arguments of the only call of a tool; undefined if the model did not call it, or called it more than once. */
function toolArguments({ message }: CompletionChoice, tool: string): unknown {
  const calls: unknown[] = Array.isArray(message.tool_calls) ? message.tool_calls : [];
  const functions = calls.map((call) => Object(Object(call).function) as Record<string, unknown>);
  const [called, another] = functions.filter(({ name }) => name === tool);
  return another === undefined ? called?.arguments : undefined;
}

/** What is already in the prompt is a quotation, and not an answer, no matter who put it there. */
function isQuotedFrom(prompt: string): (source: string) => boolean {
  const sent = withoutSpace(prompt);
  return (source) => sent.includes(withoutSpace(source));
}

function withoutSpace(text: string): string {
  return text.replace(/\s+/g, "");
}

/** The form of a model's verdict: an object with its `reasoning` first and then the key that decides. */
export interface VerdictForm<Value> {
  /** Names the form to the model. */
  name: string;
  /** Sent to servers that can enforce it. */
  jsonSchema: Record<string, unknown>;
  decidingKey: string;
  /** The values that a verdict may have. */
  schema: z.ZodType<Value>;
  /** The rule that a value breaks whose parts contradict each other. */
  contradictionIn?(value: Value): string | undefined;
}

export type Reading<Value> = { kind: "verdict"; value: Value } | Complaint;

/** Reads the first candidate that has the form. Only that one counts, even if its values are not allowed. */
export function readVerdict<Value>(form: VerdictForm<Value>, candidates: Iterable<unknown>): Reading<Value> {
  for (const candidate of candidates) {
    if (typeof candidate !== "object" || candidate === null) continue;
    if (!("reasoning" in candidate) || !(form.decidingKey in candidate)) continue;
    const parsed = form.schema.safeParse(candidate);
    if (!parsed.success) return { kind: "not_allowed" };
    const rule = form.contradictionIn?.(parsed.data);
    return rule === undefined ? { kind: "verdict", value: parsed.data } : { kind: "contradictory", rule };
  }
  return { kind: "unreadable" };
}
