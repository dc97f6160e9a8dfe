import { readInstant, type StoredPredictionDetail, worldReference } from "@presage/contract";
import { composePrompt } from "@presage/contract/compose-prompt";
import packageJson from "../../package.json" with { type: "json" };
import { isObject } from "../datasets/traces/content.ts";
import { sha256Hex } from "../platform/words.ts";
import { jsonAsWritten } from "../platform/written-json.ts";
import { actionText, callOf, type Trajectory } from "./trajectories.ts";

type Attribute = string | number | boolean | readonly string[];
type Attributes = Readonly<Record<string, Attribute | undefined>>;

interface Span {
  /** Hashed into the span's ids, which are therefore the same each time. */
  key: string;
  parent?: string;
  name: string;
  /** In nanoseconds since 1970. */
  start: bigint;
  end: bigint;
  isError?: boolean;
  attributes: Attributes;
}

/** The spans of one trace as an `ExportTraceServiceRequest` of OTLP in JSON. */
function toOtlp(trace: string, spans: readonly Span[]): object {
  const traceId = sha256Hex(trace).slice(0, 32);
  return {
    resourceSpans: [
      {
        resource: { attributes: toAttributes({ "service.name": "presage" }) },
        scopeSpans: [
          {
            scope: { name: "presage", version: packageJson.version },
            spans: spans.map((span) => ({
              traceId,
              spanId: spanIdOf(trace, span.key),
              ...(span.parent !== undefined && { parentSpanId: spanIdOf(trace, span.parent) }),
              name: span.name,
              kind: 1,
              startTimeUnixNano: String(span.start),
              endTimeUnixNano: String(span.end),
              attributes: toAttributes(span.attributes),
              status: span.isError ? { code: 2 } : {},
            })),
          },
        ],
      },
    ],
  };
}

/** A trajectory as the invocation of an agent, each action as the execution of a tool. Texts only with `content`. */
export function trajectoryToOtlp({ id, samples }: Trajectory, { content }: { content: boolean }): object {
  const [first] = samples;
  const { start, ends } = timesOf(samples);
  const agent = {
    "gen_ai.operation.name": "invoke_agent",
    "gen_ai.agent.name": first?.tags?.agent ?? "presage",
    "gen_ai.conversation.id": id,
    "gen_ai.request.model": first?.tags?.model,
    "gen_ai.tool.definitions": (content && first?.context?.tool_schemas) || undefined,
    "gen_ai.system_instructions": content ? partsOf(first?.context?.domain_knowledge) : undefined,
    "gen_ai.input.messages": content ? messagesOf("user", first?.context?.task_context) : undefined,
  };
  const root: Span = {
    key: "agent",
    name: "invoke_agent presage",
    start,
    end: ends.at(-1) ?? start,
    attributes: agent,
  };
  const steps = samples.map((sample, index): Span => {
    const call = callOf(sample, index) ?? {
      id: `call_${index + 1}`,
      name: "act",
      input: { text: actionText(sample) },
    };
    const { reward, done, step, next_state, tags, usage } = sample;
    return {
      key: `step ${step}`,
      parent: "agent",
      name: `execute_tool ${call.name}`,
      start: ends[index - 1] ?? start,
      end: ends[index] ?? start,
      isError: tags?.error === "true",
      attributes: {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.conversation.id": id,
        "gen_ai.tool.name": call.name,
        "gen_ai.tool.call.id": call.id,
        "gen_ai.tool.call.arguments": content ? jsonAsWritten(call.input) : undefined,
        "gen_ai.tool.call.result": content ? next_state : undefined,
        "gen_ai.usage.input_tokens": usage?.prompt_tokens,
        "gen_ai.usage.output_tokens": usage?.completion_tokens,
        "gen_ai.usage.cache_read.input_tokens": usage?.cached_tokens,
        "presage.step": step,
        "presage.reward": reward,
        "presage.done": done,
      },
    };
  });
  return toOtlp(id, [root, ...steps]);
}

/** A stored prediction as the span of a chat, with the texts that it has. */
export function predictionToOtlp(prediction: StoredPredictionDetail): object {
  const { id, created_at, latency_ms, model, status, error_category, output, reasoning } = prediction;
  const { context, interaction, requested_model, finish_reason } = prediction;
  const asked = interaction ? composePrompt(context, interaction) : prediction.messages;
  const { world, confidence } = prediction;
  const startedAt = new Date(Date.parse(created_at) - (latency_ms ?? 0)).toISOString();
  const span: Span = {
    key: id,
    name: `chat ${model ?? requested_model ?? "unknown"}`,
    start: nanosOf(startedAt),
    end: nanosOf(created_at),
    isError: status !== "success",
    attributes: {
      "gen_ai.operation.name": "chat",
      "gen_ai.provider.name": "presage",
      "gen_ai.request.model": requested_model ?? model ?? undefined,
      "gen_ai.response.model": model ?? undefined,
      "gen_ai.response.id": id,
      "gen_ai.response.finish_reasons": finish_reason === null ? undefined : [finish_reason],
      "gen_ai.usage.input_tokens": prediction.prompt_tokens ?? undefined,
      "gen_ai.usage.output_tokens": prediction.completion_tokens ?? undefined,
      "gen_ai.usage.cache_read.input_tokens": prediction.cached_tokens ?? undefined,
      "gen_ai.input.messages": asked ? messagesWithParts(asked) : undefined,
      "gen_ai.output.messages": output === null ? undefined : outputOf(output, reasoning, finish_reason),
      "error.type": error_category ?? undefined,
      "presage.deployment": prediction.deployment ?? undefined,
      "presage.source": prediction.source,
      "presage.world": world ? worldReference(world) : undefined,
      "presage.confidence": confidence ?? undefined,
      "presage.retrieval.examples": world?.examples.flatMap(
        ({ dataset_sample_id }) => dataset_sample_id ?? [],
      ),
    },
  };
  return toOtlp(id, [span]);
}

/** Messages in the form of the semantic conventions. */
export function messagesWithParts(messages: readonly unknown[]): string {
  return JSON.stringify(messages.filter(isObject).map(toParts));
}

function toParts({ role, content, ...others }: Record<string, unknown>) {
  const parts =
    typeof content === "string" ? [{ type: "text", content }] : Array.isArray(content) ? content : [];
  return { role, ...others, parts };
}

function outputOf(content: string, reasoning: string | null, finish_reason: string | null): string {
  const thought = reasoning === null ? [] : [{ type: "reasoning", content: reasoning }];
  const parts = [...thought, { type: "text", content }];
  return JSON.stringify([{ role: "assistant", parts, finish_reason: finish_reason ?? "stop" }]);
}

function partsOf(text: string | null | undefined): string | undefined {
  return text ? JSON.stringify([{ type: "text", content: text }]) : undefined;
}

/** A text as the messages of one role, in the form of the semantic conventions. */
function messagesOf(role: string, text: string | null | undefined): string | undefined {
  return text ? JSON.stringify([{ role, parts: [{ type: "text", content: text }] }]) : undefined;
}

function toAttributes(attributes: Attributes) {
  return Object.entries(attributes).flatMap(([key, value]) =>
    value === undefined ? [] : [{ key, value: toValue(value) }],
  );
}

/** OTLP has whole numbers as texts. */
function toValue(value: Attribute): object {
  if (typeof value === "object") return { arrayValue: { values: value.map(toValue) } };
  if (typeof value === "string") return { stringValue: value };
  if (typeof value === "boolean") return { boolValue: value };
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}

/** When a trajectory starts and its steps end, each a little after the one before it if its sample says no later time. */
function timesOf(samples: Trajectory["samples"]): { start: bigint; ends: bigint[] } {
  const first = samples.find(({ at }) => at !== undefined)?.at;
  const start = first === undefined ? 0n : nanosOf(first);
  let last = start - 1n;
  const ends = samples.map(({ at }) => {
    const end = at === undefined ? 0n : nanosOf(at);
    last = end > last ? end : last + 1n;
    return last;
  });
  return { start, ends };
}

function nanosOf(time: string): bigint {
  return BigInt(Math.max(0, readInstant(time) || 0)) * 1000n;
}

function spanIdOf(trace: string, key: string): string {
  return sha256Hex(`${trace}\n${key}`).slice(0, 16);
}
