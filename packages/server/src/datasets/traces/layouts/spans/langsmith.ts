import { LineError } from "../../../upload/lines.ts";
import {
  exactIn,
  fieldAt,
  isObject,
  type LeftOut,
  listIn,
  parsedText,
  refIn,
  textIn,
} from "../../content.ts";
import type { Layout } from "../../layout.ts";
import { usageIn } from "../../messages.ts";
import { firstUserIn, looseCall, toolAnswer } from "./loose-messages.ts";
import { type SpanItem, type TraceItem, traceReader } from "./span-turns.ts";
import { parsed, timeIn } from "./span-values.ts";

type Run = Record<string, unknown>;

/** Runs as LangSmith's clients and exports give them. */
export const langsmith: Layout = {
  format: "langsmith",
  version: 1,
  about: {
    title: "LangSmith",
    recognised_by: "`run_type`, and `dotted_order` or `trace_id`",
    trajectory: "the runs of one trace; `trace_id`",
    action:
      "runs of `run_type` `tool`, by start: `name`; `inputs`, or the arguments of the model's call of that name if `inputs.input` is no JSON",
    answer: "`outputs.output`, else `outputs`; `error`",
    context: "first human message of `inputs.messages`, or `inputs.input`; the system message; tools",
    also: "time from `end_time`; `prompt_tokens` and `completion_tokens` of the model's run that made the call",
    left_out: "chains, retrievers, feedback",
    example: `{"id":"r2","name":"shell","run_type":"tool","trace_id":"r1","dotted_order":"20260101T000000000000Zr1.20260101T000001000000Zr2","start_time":"2026-01-01T00:00:01","end_time":"2026-01-01T00:00:02","inputs":{"cmd":"ls drawer"},"outputs":{"output":"key.txt"}}`,
  },
  recognises({ value }) {
    if (!isObject(value) || typeof value.run_type !== "string") return undefined;
    return traceOf(value) === undefined ? undefined : "run_type with dotted_order or trace_id";
  },
  open: ({ leftOut }) => traceReader(({ value }) => itemsOf(value, [], leftOut), leftOut),
};

/** The id of a run's trace, which its `dotted_order` starts with too. */
function traceOf(run: Run): string | undefined {
  const [, first] = /^\d{8}T\d+Z([^.]+)/.exec(textIn(run, "dotted_order") ?? "") ?? [];
  return textIn(run, "trace_id") ?? first;
}

/** A run, and the runs inside it. */
function itemsOf(run: unknown, path: (string | number)[], leftOut: LeftOut): TraceItem[] {
  if (!isObject(run)) throw new LineError("Input should be an object", path);
  const trace = traceOf(run);
  if (trace === undefined) throw new LineError("Field required", [...path, "trace_id"]);
  if (typeof run.run_type !== "string") throw new LineError("Field required", [...path, "run_type"]);
  const start = timeIn(run, ["start_time", "end_time"])?.order ?? "";
  const children = listIn(run, "child_runs").flatMap((child, index) =>
    itemsOf(child, [...path, "child_runs", index], leftOut),
  );
  return [{ ...partsOf(run, run.run_type, leftOut), start, trace }, ...children];
}

function partsOf(run: Run, type: string, leftOut: LeftOut): Omit<SpanItem, "start"> {
  if (type === "tool") return { tool: toolOf(run) };
  const { inputs } = run;
  const input = isObject(inputs) ? inputs.input : undefined;
  if (type !== "llm" && type !== "chain") leftOut.count("other_event");
  if (type !== "llm" && type !== "chain") return {};
  const isTold = isObject(inputs) && Array.isArray(inputs.messages);
  const told = isTold ? firstUserIn(inputs) : (firstUserIn(input) ?? textIn(inputs, "input"));
  return type === "chain"
    ? { task: told }
    : { task: told, ...modelOf(run, isTold ? inputs : input, leftOut) };
}

function toolOf(run: Run): NonNullable<SpanItem["tool"]> {
  const error = textIn(run, "error");
  const { inputs, outputs, extra } = run;
  const isWrapped = isObject(outputs) && Object.hasOwn(outputs, "output");
  const { of, content, isError } = toolAnswer(isWrapped ? exactIn(outputs, "output") : outputs);
  // A tool that returns nothing has still answered.
  const given = isWrapped ? (content ?? "") : (content ?? undefined);
  const text = isObject(inputs) && Object.keys(inputs).length === 1 ? textIn(inputs, "input") : undefined;
  const inner = text === undefined ? undefined : parsed(text);
  return {
    call: {
      id: of ?? refIn(extra, "tool_call_id"),
      name: textIn(run, "name") ?? "",
      input: isObject(inner) ? inner : (inputs ?? undefined),
    },
    // LangChain writes a call's arguments as Python does.
    prefersCalled: text !== undefined && parsedText(text) === text,
    result: error ?? given,
    isError: error !== undefined || isError,
    at: timeIn(run, ["end_time"])?.at,
  };
}

function modelOf(run: Run, told: unknown, leftOut: LeftOut): Pick<SpanItem, "model" | "tools"> {
  const { inputs, outputs, extra } = run;
  const params = fieldAt(extra, "invocation_params");
  const model =
    textIn(extra, "metadata.ls_model_name") ?? textIn(params, "model") ?? textIn(params, "model_name");
  const usage = usageIn(run, { prompt_tokens: "prompt_tokens", completion_tokens: "completion_tokens" });
  return {
    model: looseCall(told ?? listIn(inputs, "prompts")[0], outputs, { usage, model }, leftOut),
    tools: fieldAt(params, "tools") ?? fieldAt(inputs, "tools") ?? undefined,
  };
}
