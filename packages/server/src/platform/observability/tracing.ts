import { setTimeout as sleep } from "node:timers/promises";
import {
  type Context,
  type Span,
  SpanKind,
  SpanStatusCode,
  type TextMapPropagator,
  type TextMapSetter,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import type { SpanProcessor } from "@opentelemetry/sdk-trace-base";
import { isCountedModelName } from "../prices.ts";

/** What is asked speaks OpenAI's protocol; who runs it is not known. */
const provider = "openai";

type Attributes = Record<string, string | number | string[] | undefined>;

/** Of a call to a model, before it: docs/decisions/0044-opentelemetry.md. */
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

/** What a metric of a call tells apart: a few values each, so the models are of a limited number. */
export function chatMetricAttributes(models: ModelNames, end?: ChatEnd): Attributes {
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

/** Callers name models as they like, and what is no name is not exported: it may be of megabytes. */
export function modelNameOf(value: unknown): string | undefined {
  return typeof value === "string" && isCountedModelName(value) ? value : undefined;
}

function numberOf(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}

/** What spans are recorded with. */
export interface Recorder {
  tracer: Tracer;
  propagator: TextMapPropagator;
  chats: ChatMetrics | undefined;
}

/** Records the calls to models and the evaluations below a span. */
export function evaluatedSpan(recorder: Recorder, span: Span, context: Context): EvaluatedSpan {
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

export function endSpanAfter(span: Span, work: Promise<unknown>): void {
  work.then(
    () => span.end(),
    (error: unknown) => endWithError(span, errorTypeOf(error)),
  );
}

function chatsBelow({ tracer, propagator, chats }: Recorder, parent: Context): ChatParent["startChat"] {
  return (request) => {
    const measured = chats?.start(request);
    const attributes = chatRequestAttributes(request);
    const span = tracer.startSpan("chat", { kind: SpanKind.CLIENT, attributes }, parent);
    const headers: TraceHeaders = {};
    propagator.inject(trace.setSpan(parent, span), headers, setUnlessEmpty);
    return {
      headers,
      end(response) {
        measured?.end(response);
        const model = modelNameOf(response.model);
        if (model !== undefined) span.updateName(`chat ${model}`);
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

/** What is cut off ends within milliseconds. */
const patienceMs = 1_000;

export interface OpenSpans extends SpanProcessor {
  /** Waits a moment for work that has been cut off: a span that has not ended is not sent. */
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

/** OpenTelemetry spans by the GenAI conventions. They contain no text of a prompt, a completion or a sample. */
export interface Tracing {
  /** A span for one request; a child of the caller's if the headers name one. Undefined if there is nothing to trace. */
  startRequest(method: string, headers: Headers): RequestSpan | undefined;
  /** A span for one process's work on a run. Undefined if there is nothing to trace. */
  startRun(run: { id: string; name: string; datasetId: string }): RunSpan | undefined;
  /** Sends what is pending. */
  stop(): Promise<void>;
}

/** What calls to models are traced below. */
export interface ChatParent {
  startChat(request: Readonly<Record<string, unknown>>): ChatSpan;
}

/** What evaluators are traced below. */
export interface EvaluatedSpan extends ChatParent {
  startEvaluation(evaluator: { family: string; profile: string }): EvaluationSpan;
}

export interface RequestSpan extends EvaluatedSpan {
  end(route: string, status: number): void;
}

export interface RunSpan {
  /** A step has a trace of its own, which names the run's: a run may have a million. */
  startStep(step: { sampleId: string; repeat: number }): StepSpan;
  endAfter(work: Promise<unknown>): void;
}

export interface StepSpan extends EvaluatedSpan {
  endAfter(work: Promise<unknown>): void;
}

/** One evaluator's work; judges' calls are below it. */
export interface EvaluationSpan extends ChatParent {
  endAfter(outcome: Promise<EvaluationEnd>): void;
}

export interface EvaluationEnd {
  status: string;
  pass?: boolean | undefined;
  score?: number | undefined;
  /** A code, a colon and a sentence. Only the code is exported. */
  errorMessage?: string | undefined;
}

/** `traceparent` and `tracestate`, as the W3C defines them. */
export type TraceHeaders = Readonly<Record<string, string>>;

export interface ChatSpan {
  /** Make the upstream's own spans children of this one. */
  headers: TraceHeaders;
  end(response: ChatEnd): void;
  fail(errorType: string): void;
}

export interface ChatEnd {
  /** As the upstream named it. */
  model: unknown;
  /** The requested model, where a model was called. */
  sentModel?: string | undefined;
  /** The address that answered. */
  replica?: string | undefined;
  /** Where it is from, if it was cached. */
  source?: "hit" | "miss" | "shared" | undefined;
  finishReason: unknown;
  promptTokens: number;
  completionTokens: number;
}

/** Figures of calls to models. */
export interface ChatMetrics {
  start(request: Readonly<Record<string, unknown>>): Omit<ChatSpan, "headers">;
}
