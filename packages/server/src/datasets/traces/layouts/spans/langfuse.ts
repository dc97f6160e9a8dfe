import { LineError } from "../../../upload/lines.ts";
import { exactIn, isObject, type LeftOut, listIn, parsedText, textIn } from "../../content.ts";
import type { Layout, ReadOptions, TraceDocument } from "../../layout.ts";
import { rewardIn, usageIn } from "../../messages.ts";
import type { Trace } from "../../turns.ts";
import { firstUserIn, looseCall, toolAnswer } from "./loose-messages.ts";
import { byStart, type SpanItem, type TraceItem, traceOfSpans, traceReader } from "./span-turns.ts";
import { parsed, timeIn } from "./span-values.ts";

type Row = Record<string, unknown>;

const types = /^(span|generation|event|agent|tool|chain|retriever|evaluator|embedding|guardrail)$/i;

/** Traces of Langfuse with their observations, or observations as rows. */
export const langfuse: Layout = {
  format: "langfuse",
  version: 4,
  about: {
    title: "Langfuse",
    recognised_by: "`observations[]` with `type`, or rows with `traceId` and `type`",
    trajectory: "a trace; `id`, or the rows' `traceId`",
    action:
      "observations `TOOL`, or `SPAN` with the name of a called function, by start: `gen_ai.tool.name`, else `name`; `input`",
    answer: "`output`; of level `ERROR`, `statusMessage`",
    context:
      "the trace's `input` (a text or its first user), else the first generation's; its system message",
    also: "reward from a score named `reward`; `endTime`; `usageDetails` of the generation that made the call",
    left_out: "events, prompts. A trace whose `observations` are ids must be fetched by its id first",
    example: `{"id":"trace-1","input":"Find the key.","observations":[{"id":"o1","traceId":"trace-1","type":"TOOL","name":"shell","startTime":"2026-01-01T00:00:00.000Z","endTime":"2026-01-01T00:00:01.000Z","input":{"cmd":"ls drawer"},"output":"key.txt"}],"scores":[{"name":"reward","value":1}]}`,
  },
  recognises({ value }) {
    if (!isObject(value)) return undefined;
    if (isRow(value)) return "rows with traceId and type";
    const isTold = listIn(value, "observations").some(
      (one) => textIn(one, "type") !== undefined || (typeof one === "string" && "id" in value),
    );
    return isTold ? "observations" : undefined;
  },
  admits: ({ value }) => isObject(value) && (isRow(value) || Array.isArray(value.observations)),
  open(options) {
    const rows = traceReader((document) => rowsOf(document, options), options.leftOut);
    return {
      ...rows,
      *read(document) {
        const value = traceIn(document.value);
        const id = textIn(value, "id");
        if (value !== undefined && id !== undefined) yield { trace: traceOf(value, id, options) };
        else yield* rows.read(document);
      },
    };
  },
};

/** A trace with its observations; the page's download has them next to the trace. */
function traceIn(value: unknown): Row | undefined {
  if (!isObject(value) || isRow(value) || !Array.isArray(value.observations)) return undefined;
  const { trace, ...beside } = value;
  return isObject(trace) ? { ...trace, ...beside } : value;
}

const traceIdOf = (row: unknown) => textIn(row, "traceId") ?? textIn(row, "trace_id");

function isRow(value: Row): boolean {
  return traceIdOf(value) !== undefined && typeof value.type === "string" && types.test(value.type);
}

function rowsOf({ value }: TraceDocument, options: ReadOptions): TraceItem[] {
  const list = isObject(value) && Array.isArray(value.observations) ? value.observations : undefined;
  return (list ?? [value]).map((row: unknown, index) => {
    const path = list === undefined ? [] : ["observations", index];
    const trace = traceIdOf(row);
    if (trace === undefined) throw new LineError("Field required", [...path, "traceId"]);
    return { ...itemOf(row, path, options), trace };
  });
}

function traceOf(value: Row, id: string, options: ReadOptions): Trace {
  const rewards = rewardsOf(value, options.score ?? "reward");
  const items = listIn(value, "observations").map((row, index) => {
    if (typeof row === "string")
      throw new LineError("Only the ids of the observations: fetch each trace by its id", [
        "observations",
        index,
      ]);
    const item = itemOf(row, ["observations", index], options);
    const reward = rewards.get(textIn(row, "id"));
    return item.tool === undefined || reward === undefined
      ? item
      : { ...item, tool: { ...item.tool, reward } };
  });
  const task = firstUserIn(value.input) ?? plainIn(value.input);
  const about: SpanItem = { start: "", task };
  const trace = traceOfSpans([about, ...items.sort(byStart)], options.leftOut);
  return { ...trace, id, reward: rewards.get(undefined) };
}

/** An input that is a text, and not JSON. */
function plainIn(input: unknown): string | undefined {
  const told = parsed(input);
  return typeof told === "string" && told !== "" ? told : undefined;
}

/** The scores with this name, by observation; undefined is the trace itself. */
function rewardsOf(value: Row, name: string): Map<string | undefined, number> {
  const found = new Map<string | undefined, number>();
  for (const score of listIn(value, "scores")) {
    if (!isObject(score) || score.name !== name) continue;
    const reward = rewardIn(score, ["value"]);
    if (reward !== undefined)
      found.set(textIn(score, "observationId") ?? textIn(score, "observation_id"), reward);
  }
  return found;
}

function itemOf(row: unknown, path: (string | number)[], { leftOut }: ReadOptions): SpanItem {
  if (!isObject(row)) throw new LineError("Input should be an object", path);
  if (typeof row.type !== "string") throw new LineError("Field required", [...path, "type"]);
  const type = row.type.toUpperCase();
  const item: SpanItem = {
    start: timeIn(row, ["startTime", "start_time", "endTime", "end_time"])?.order ?? "",
  };
  const name = textIn(row, "name");
  if (type === "GENERATION") return { ...item, ...modelOf(row, leftOut) };
  if ((type === "TOOL" || type === "SPAN") && name !== undefined) item.tool = toolOf(row, name, type);
  else if (type === "AGENT") item.agent = name;
  else if (type !== "SPAN" && type !== "CHAIN") leftOut.count("other_event");
  const isRoot = (row.parentObservationId ?? row.parent_observation_id ?? null) === null;
  if (isRoot && type !== "TOOL") item.input = firstUserIn(row.input) ?? plainIn(row.input);
  return item;
}

function toolOf(row: Row, span: string, type: string): NonNullable<SpanItem["tool"]> {
  // OpenTelemetry names the span after the operation, and its tool in an attribute.
  const tool = textIn(row, "metadata.attributes.gen_ai.tool.name");
  const name = tool ?? span.replace(/^execute_tool /, "");
  const isFailed = typeof row.level === "string" && row.level.toUpperCase() === "ERROR";
  const why = isFailed ? (textIn(row, "statusMessage") ?? textIn(row, "status_message")) : undefined;
  const { of: id, content, isError } = toolAnswer(exactIn(row, "output"));
  return {
    call: { id, name, input: row.input ?? undefined },
    result: why ?? content ?? undefined,
    isError: isFailed || isError,
    at: timeIn(row, ["endTime", "end_time"])?.at,
    isOnlyIfCalled: type === "SPAN" && tool === undefined,
    // LangChain's arguments arrive as Python writes them.
    prefersCalled: typeof row.input === "string" && parsedText(row.input) === row.input,
  };
}

function modelOf(row: Row, leftOut: LeftOut): Pick<SpanItem, "model" | "tools"> {
  const input = parsed(row.input);
  const details = row.usageDetails ?? row.usage_details ?? row.usage;
  const usage = usageIn(details, {
    prompt_tokens: ["input", "promptTokens"],
    completion_tokens: ["output", "completionTokens"],
  });
  return {
    model: looseCall(
      input,
      row.output,
      { usage, model: textIn(row, "model") ?? textIn(row, "provided_model_name") },
      leftOut,
    ),
    tools: isObject(input) ? (input.tools ?? undefined) : undefined,
  };
}
