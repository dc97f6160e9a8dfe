import {
  defaultTextMapGetter,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  type Tracer,
} from "@opentelemetry/api";
import { W3CTraceContextPropagator } from "@opentelemetry/core";
import { endSpanAfter, evaluatedSpan, type Recorder } from "./evaluated-span.ts";
import { readTraceHeaders } from "./forward-traces.ts";
import type { ChatMetrics, RequestSpan, RunSpan, StepSpan, Tracing } from "./tracing.ts";

/** Spans of requests and runs, and of what is done for them. */
export function recordSpans(
  tracer: Tracer,
  chats: ChatMetrics | undefined,
): Pick<Tracing, "startRequest" | "startRun"> {
  const recorder: Recorder = { tracer, propagator: new W3CTraceContextPropagator(), chats };
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
      if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
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
