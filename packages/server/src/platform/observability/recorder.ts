import { setTimeout as sleep } from "node:timers/promises";
import {
  type Context,
  defaultTextMapGetter,
  type Meter,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type TextMapPropagator,
  type TextMapSetter,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import { W3CTraceContextPropagator } from "@opentelemetry/core";
import type { SpanProcessor } from "@opentelemetry/sdk-trace-base";
import { isCountedModelName } from "../prices.ts";
import {
  type ChatEnd,
  type ChatMetrics,
  type ChatParent,
  type EvaluatedSpan,
  type EvaluationEnd,
  type RequestSpan,
  type RunSpan,
  readTraceHeaders,
  type StepSpan,
  type TraceHeaders,
  type Tracing,
  type WriteTexts,
} from "./tracing.ts";

/** Spans of requests and runs, and of the work done for them. */
export function recordSpans(
  tracer: Tracer,
  chats: ChatMetrics | undefined,
  writeTexts?: WriteTexts,
): Pick<Tracing, "startRequest" | "startRun"> {
  const recorder: Recorder = { tracer, propagator: new W3CTraceContextPropagator(), chats, writeTexts };
  return {
    startRequest: (method, headers) => startRequest(recorder, method, headers),
    startRun: (run) => startRun(recorder, run),
  };
}

function startRequest(recorder: Recorder, method: string, headers: Headers): RequestSpan {
  const parent = recorder.propagator.extract(ROOT_CONTEXT, readTraceHeaders(headers), defaultTextMapGetter);
  const attributes = { "http.request.method": method };
  const span = recorder.tracer.startSpan(method, { kind: SpanKind.SERVER, attributes }, parent);
  return {
    ...evaluatedSpan(recorder, span, parent),
    end(route, status) {
      span.updateName(`${method} ${route}`);
      span.setAttributes({ "http.route": route, "http.response.status_code": status });
      if (status >= 500)
        span.setAttribute("error.type", String(status)).setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    },
  };
}

function startRun(recorder: Recorder, { id, name, datasetId }: Parameters<Tracing["startRun"]>[0]): RunSpan {
  const attributes = {
    "gen_ai.operation.name": "invoke_workflow",
    "gen_ai.workflow.name": name,
    "presage.run.id": id,
    "presage.dataset.id": datasetId,
  };
  const { tracer } = recorder;
  const run = tracer.startSpan("invoke_workflow", { kind: SpanKind.INTERNAL, attributes }, ROOT_CONTEXT);
  const links = [{ context: run.spanContext() }];

  function startStep({ sampleId, repeat }: Parameters<RunSpan["startStep"]>[0]): StepSpan {
    const attributes = { "presage.run.id": id, "presage.sample.id": sampleId, "presage.repeat": repeat };
    const step = tracer.startSpan("run step", { kind: SpanKind.INTERNAL, attributes, links }, ROOT_CONTEXT);
    return {
      ...evaluatedSpan(recorder, step, ROOT_CONTEXT),
      endAfter: (work) => endSpanAfter(step, work),
    };
  }

  return { endAfter: (work) => endSpanAfter(run, work), startStep };
}

/** What spans are recorded with. */
interface Recorder {
  tracer: Tracer;
  propagator: TextMapPropagator;
  chats: ChatMetrics | undefined;
  /** Absent: spans contain no texts. */
  writeTexts: WriteTexts | undefined;
}

/** Records the calls to models and the evaluations below a span. */
function evaluatedSpan(recorder: Recorder, span: Span, context: Context): EvaluatedSpan {
  const parent = trace.setSpan(context, span);
  return {
    startChat: chatsBelow(recorder, parent),
    startEvaluation({ family, profile }) {
      const attributes = { "gen_ai.evaluation.name": family, "presage.profile.name": profile };
      const options = { kind: SpanKind.INTERNAL, attributes };
      const evaluation = recorder.tracer.startSpan(`evaluate ${family}`, options, parent);
      return {
        startChat: chatsBelow(recorder, trace.setSpan(parent, evaluation)),
        endAfter(outcome) {
          outcome.then(
            (end) => endEvaluation(evaluation, family, end),
            (error: unknown) => endWithError(evaluation, errorTypeOf(error)),
          );
        },
      };
    },
  };
}

function endSpanAfter(span: Span, work: Promise<unknown>): void {
  work.then(
    () => span.end(),
    (error: unknown) => endWithError(span, errorTypeOf(error)),
  );
}

function chatsBelow(
  { tracer, propagator, chats, writeTexts }: Recorder,
  parent: Context,
): ChatParent["startChat"] {
  function setTexts(span: Span, name: "input" | "output", messages: unknown): void {
    const texts = span.isRecording() && Array.isArray(messages) ? writeTexts?.(messages) : undefined;
    if (texts !== undefined) span.setAttribute(`gen_ai.${name}.messages`, texts);
  }

  return (request) => {
    const measured = chats?.start(request);
    const attributes = chatRequestAttributes(request);
    const span = tracer.startSpan("chat", { kind: SpanKind.CLIENT, attributes }, parent);
    setTexts(span, "input", request.messages);
    const headers: TraceHeaders = {};
    propagator.inject(trace.setSpan(parent, span), headers, setUnlessEmpty);
    return {
      headers,
      end(response) {
        measured?.end(response);
        const model = modelNameOf(response.model);
        if (model !== undefined) span.updateName(`chat ${model}`);
        setTexts(span, "output", [{ ...response.message, finish_reason: response.finishReason }]);
        span.setAttributes(chatResponseAttributes(response)).end();
      },
      fail(errorType) {
        measured?.fail(errorType);
        endWithError(span, errorType);
      },
    };
  };
}

const setUnlessEmpty: TextMapSetter<Record<string, string>> = {
  set(carrier, name, value) {
    if (value !== "") carrier[name] = value;
  },
};

function endEvaluation(span: Span, name: string, { status, pass, score, errorMessage }: EvaluationEnd): void {
  const hasNone = status === "success" || status === "not_applicable";
  const errorType = hasNone ? undefined : (errorMessage?.split(":", 1)[0] ?? status);
  const result = {
    "gen_ai.evaluation.name": name,
    "gen_ai.evaluation.score.value": score,
    "gen_ai.evaluation.score.label": pass === undefined ? undefined : pass ? "pass" : "fail",
  };
  span.setAttributes(result);
  span.addEvent("gen_ai.evaluation.result", { ...result, "error.type": errorType });
  if (errorType === undefined) span.end();
  else endWithError(span, errorType);
}

function endWithError(span: Span, errorType: string): void {
  span.setAttribute("error.type", errorType).setStatus({ code: SpanStatusCode.ERROR }).end();
}

function errorTypeOf(error: unknown): string {
  return error instanceof Error ? error.name : "_OTHER";
}

/** The upstream speaks OpenAI's protocol; who operates it is unknown. */
const provider = "openai";

type Attributes = Record<string, string | number | string[] | undefined>;

/** The attributes of a call to a model that are known in advance: docs/decisions/0044-opentelemetry.md. */
export function chatRequestAttributes(request: Readonly<Record<string, unknown>>): Attributes {
  return {
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": provider,
    "gen_ai.request.model": modelNameOf(request.model),
    "gen_ai.request.max_tokens": numberOf(request.max_tokens),
    "gen_ai.request.temperature": numberOf(request.temperature),
    "gen_ai.request.top_p": numberOf(request.top_p),
    "gen_ai.request.seed": numberOf(request.seed),
  };
}

export function chatResponseAttributes(end: ChatEnd): Attributes {
  const { finishReason, promptTokens, completionTokens, source } = end;
  return {
    ...servedBy(end),
    "gen_ai.response.finish_reasons": typeof finishReason === "string" ? [finishReason] : undefined,
    "gen_ai.usage.input_tokens": promptTokens,
    "gen_ai.usage.output_tokens": completionTokens,
    "presage.cache": source,
  };
}

/** The attributes that split the metrics of a call. Each has few values, so the number of models is limited. */
function chatMetricAttributes(models: ModelNames, end?: ChatEnd): Attributes {
  return {
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": provider,
    ...(end && addressOf(end)),
    ...namesOf(models),
  };
}

interface ModelNames {
  requested: string | undefined;
  answered?: string | undefined;
}

function namesOf({ requested, answered }: ModelNames): Attributes {
  return {
    ...(requested === undefined ? {} : { "gen_ai.request.model": requested }),
    "gen_ai.response.model": answered,
  };
}

function servedBy(end: ChatEnd): Attributes {
  const { model, sentModel } = end;
  return {
    ...namesOf({ requested: modelNameOf(sentModel), answered: modelNameOf(model) }),
    ...addressOf(end),
  };
}

function addressOf({ replica }: ChatEnd): Attributes {
  const address = replica === undefined ? undefined : new URL(replica);
  return {
    "server.address": address?.hostname,
    "server.port": address && Number(address.port || (address.protocol === "https:" ? 443 : 80)),
  };
}

/** Callers may send any model name. Values that cannot be one are not exported, as they may have megabytes. */
function modelNameOf(value: unknown): string | undefined {
  return isCountedModelName(value) ? value : undefined;
}

function numberOf(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}

/** The boundaries that the conventions specify. */
const seconds = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];
const tokens = Array.from({ length: 14 }, (_, power) => 4 ** power);

/** The SDK keeps every name for as long as the process lives. */
const maxModels = 100;
const otherModel = "other";

/** Duration and tokens of calls to models, by the GenAI conventions. Answers from the cache are not calls. */
export function createChatMetrics(meter: Meter): ChatMetrics {
  const duration = meter.createHistogram("gen_ai.client.operation.duration", {
    unit: "s",
    description: "GenAI operation duration.",
    advice: { explicitBucketBoundaries: seconds },
  });
  const usage = meter.createHistogram("gen_ai.client.token.usage", {
    unit: "{token}",
    description: "Number of input and output tokens used.",
    advice: { explicitBucketBoundaries: tokens },
  });
  const known = new Set<string>();

  /** The model of a completed call, so a deployment serves it. */
  function nameOf(model: unknown): string | undefined {
    if (model === undefined || model === null) return undefined;
    const name = modelNameOf(model);
    if (name === undefined || (!known.has(name) && known.size >= maxModels)) return otherModel;
    known.add(name);
    return name;
  }

  return {
    start(request) {
      const startedAtMs = performance.now();
      const elapsedS = () => (performance.now() - startedAtMs) / 1_000;
      // Kept until the call ends, unlike the request.
      const asked = modelNameOf(request.model);
      const isAsked = request.model !== undefined;
      return {
        end(response) {
          if (response.source === "hit" || response.source === "shared") return;
          const attributes = chatMetricAttributes(
            { requested: nameOf(response.sentModel ?? asked), answered: nameOf(response.model) },
            response,
          );
          duration.record(elapsedS(), attributes);
          const { promptTokens, completionTokens } = response;
          for (const [type, tokens] of Object.entries({ input: promptTokens, output: completionTokens }))
            if (tokens !== undefined) usage.record(tokens, { ...attributes, "gen_ai.token.type": type });
        },
        fail(errorType) {
          const served = asked !== undefined && known.has(asked) ? asked : otherModel;
          const attributes = chatMetricAttributes({ requested: isAsked ? served : undefined });
          duration.record(elapsedS(), { ...attributes, "error.type": errorType });
        },
      };
    },
  };
}

/** Work that is cut off ends within milliseconds. */
const patienceMs = 1_000;

interface OpenSpans extends SpanProcessor {
  /** Waits briefly for work that has been cut off: a span that has not ended is not sent. */
  ended(): Promise<void>;
}

export function createOpenSpans(): OpenSpans {
  let open = 0;
  return {
    onStart() {
      open += 1;
    },
    onEnd() {
      open -= 1;
    },
    async ended() {
      const endsAtMs = performance.now() + patienceMs;
      while (open > 0 && performance.now() < endsAtMs) await sleep(10);
    },
    async forceFlush() {},
    async shutdown() {},
  };
}
