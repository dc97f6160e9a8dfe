import { defined } from "../words.ts";

/** OpenTelemetry spans by the GenAI conventions. They contain the text of prompts and completions only if the operator wants it. */
export interface Tracing {
  /** A span for one request; a child of the caller's if the headers name one. Undefined if there is nothing to trace. */
  startRequest(method: string, headers: Headers): RequestSpan | undefined;
  /** A span for one process's work on a run. Undefined if there is nothing to trace. */
  startRun(run: { id: string; name: string; datasetId: string }): RunSpan | undefined;
  /** Sends what is pending. */
  stop(): Promise<void>;
}

/** The parent of the spans of calls to models. */
export interface ChatParent {
  startChat(request: Readonly<Record<string, unknown>>): ChatSpan;
}

/** The parent of the spans of evaluators. */
export interface EvaluatedSpan extends ChatParent {
  startEvaluation(evaluator: { family: string; profile: string }): EvaluationSpan;
}

export interface RequestSpan extends EvaluatedSpan {
  end(route: string, status: number): void;
}

export interface RunSpan {
  /** A step has its own trace, which names the run's: a run may have a million steps. */
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
  /** Headers that make the upstream's own spans children of this one. */
  headers: TraceHeaders;
  end(response: ChatEnd): void;
  fail(errorType: string): void;
}

export interface ChatEnd {
  /** The model as the upstream named it. */
  model: unknown;
  /** The requested model, if a model was called. */
  sentModel?: string | undefined;
  /** The address that answered. */
  replica?: string | undefined;
  /** Where the answer came from, if it could have been cached. */
  source?: "hit" | "miss" | "shared" | undefined;
  finishReason: unknown;
  message: object;
  /** Undefined if the upstream counted none. */
  promptTokens: number | undefined;
  completionTokens: number | undefined;
}

/** Writes messages as an attribute; undefined if that would be too long. */
export type WriteTexts = (messages: readonly unknown[]) => string | undefined;

/** Figures of calls to models. */
export interface ChatMetrics {
  start(request: Readonly<Record<string, unknown>>): Omit<ChatSpan, "headers">;
}

/** The trace headers that a caller sends, unchecked. */
export interface GivenTraceHeaders {
  traceparent?: string;
  tracestate?: string;
}

export function readTraceHeaders(headers: Headers): GivenTraceHeaders {
  const traceparent = headers.get("traceparent") ?? undefined;
  return traceparent === undefined
    ? {}
    : defined({ traceparent, tracestate: headers.get("tracestate") ?? undefined });
}
