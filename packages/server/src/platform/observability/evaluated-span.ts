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
import { chatRequestAttributes, chatResponseAttributes, modelNameOf } from "./gen-ai-attributes.ts";
import type { ChatMetrics, ChatParent, EvaluatedSpan, EvaluationEnd, TraceHeaders } from "./tracing.ts";

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
