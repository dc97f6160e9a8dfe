import { numberText } from "../../../../platform/written-json.ts";
import { LineError } from "../../../upload/lines.ts";
import { fieldAt, isObject, listIn, parsedText, textIn, timeOf } from "../../content.ts";
import type { TraceDocument } from "../../layout.ts";

/** A span of OpenTelemetry, in the same form for all exporters. */
export interface Span {
  trace: string;
  id: string | undefined;
  parent: string | undefined;
  name: string;
  /** The span as written, with its attributes by name. */
  value: Record<string, unknown>;
  attributes: Record<string, unknown>;
  events: { name: string; attributes: Record<string, unknown> }[];
  start: string;
  endOrder: string;
  end: string | undefined;
  isError: boolean;
  /** Why it failed. */
  message: string | undefined;
}

/** The spans in a document, each with its path there: in an OTLP export, in a trace, or the document itself. */
export function spanValues({ value }: TraceDocument): [Record<string, unknown>, (string | number)[]][] {
  return within(value, []);
}

/** The fields in which an export, a trace or a page has its spans. */
const nests = [
  "resourceSpans",
  "resource_spans",
  "scopeSpans",
  "scope_spans",
  "instrumentationLibrarySpans",
  "spans",
];

function within(value: unknown, path: (string | number)[]): [Record<string, unknown>, (string | number)[]][] {
  if (!isObject(value)) return [];
  // MLflow's traces have their spans in `data`, next to `info`.
  if (Array.isArray(fieldAt(value.data, "spans"))) return within(value.data, [...path, "data"]);
  const nest = nests.find((name) => Array.isArray(value[name]));
  if (nest === undefined) return [[value, path]];
  return listIn(value, nest).flatMap((one, index) => within(one, [...path, nest, index]));
}

/** The names that exporters, and rows of Braintrust, PostHog and Mastra, use for the same thing. Dots may separate nested fields. */
const names = {
  trace: ["traceId", "trace_id", "context.trace_id", "root_span_id", "properties.$ai_trace_id"],
  id: ["spanId", "span_id", "context.span_id", "properties.$ai_span_id"],
  parent: ["parentSpanId", "parent_id", "parent_span_id", "properties.$ai_parent_id"],
  start: [
    "startTimeUnixNano",
    "start_time_unix_nano",
    "start_time",
    "startTime",
    "startedAt",
    "metrics.start",
    "created",
    "timestamp",
  ],
  end: ["endTimeUnixNano", "end_time_unix_nano", "end_time", "endTime", "endedAt", "metrics.end"],
  failure: ["error", "error.message", "errorInfo.message", "properties.$ai_error"],
  message: ["status.message", "status.description", "status_message"],
};

function firstText(value: unknown, of: readonly string[]): string | undefined {
  for (const name of of) {
    const found = textIn(value, name);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Whether a document has the form of spans, whatever they contain. */
export function hasSpans(document: TraceDocument): boolean {
  return spanValues(document).every(([span]) => traceIn(span, document) !== undefined);
}

function traceIn(span: Record<string, unknown>, { envelope, value }: TraceDocument): string | undefined {
  // Spans without a trace id get that of the trace around them.
  const outer = [...names.trace.slice(0, 2), "id"];
  return (
    firstText(span, names.trace) ??
    (value === span ? undefined : firstText(value, outer)) ??
    firstText(envelope, outer)
  );
}

/** Reads a document's spans. A span without a trace id is an error. */
export function spansIn(document: TraceDocument): Span[] {
  return spanValues(document).map(([value, path]) => {
    const trace = traceIn(value, document);
    if (trace === undefined) throw new LineError("Field required", [...path, "traceId"]);
    const failure = firstText(value, names.failure);
    const isError = failure !== undefined || hasErrorStatus(value);
    const events = listIn(value, "events").flatMap((event) => {
      if (!isObject(event)) return [];
      return [{ name: textIn(event, "name") ?? "", attributes: recordOf(event.attributes) }];
    });
    const thrown = events.find(({ name }) => name === "exception")?.attributes;
    const begun = timeIn(value, names.start);
    const ended = timeIn(value, names.end);
    const [firstParent] = listIn(value, "span_parents");
    return {
      trace,
      id: firstText(value, names.id),
      parent: firstText(value, names.parent) ?? (typeof firstParent === "string" ? firstParent : undefined),
      name: textIn(value, "name") ?? "",
      value,
      attributes: attributesOf(value),
      events,
      start: (begun ?? ended)?.order ?? "",
      endOrder: (ended ?? begun)?.order ?? "",
      end: ended?.at,
      isError,
      message:
        firstText(value, names.message) ??
        failure ??
        (isError ? textIn(thrown, "exception.message") : undefined),
    };
  });
}

function hasErrorStatus({ status, status_code }: Record<string, unknown>): boolean {
  const code = isObject(status) ? (status.code ?? status.status_code) : (status_code ?? status);
  return code === 2 || /^(STATUS_CODE_|StatusCode\.)?ERROR$/.test(String(code));
}

/** A span's attributes by name: from OTLP's list, an object, or a table whose columns are named after them. */
export function attributesOf(value: Record<string, unknown>): Record<string, unknown> {
  return withKnownNames(ownAttributes(value));
}

/** MLflow's attributes, which are JSON texts, under OpenInference's names as well. */
function withKnownNames(attributes: Record<string, unknown>): Record<string, unknown> {
  const type = parsed(attributes["mlflow.spanType"]);
  if (typeof type !== "string") return attributes;
  const input = parsed(attributes["mlflow.spanInputs"]);
  const usage = parsed(attributes["mlflow.chat.tokenUsage"]);
  return {
    ...attributes,
    "openinference.span.kind": type === "CHAT_MODEL" ? "LLM" : type,
    "input.value": input,
    "output.value": parsed(attributes["mlflow.spanOutputs"]),
    "llm.model_name": fieldAt(input, "model"),
    "llm.tools": parsed(attributes["mlflow.chat.tools"]) ?? fieldAt(input, "tools"),
    "llm.token_count.prompt": fieldAt(usage, "input_tokens"),
    "llm.token_count.completion": fieldAt(usage, "output_tokens"),
  };
}

function ownAttributes(value: Record<string, unknown>): Record<string, unknown> {
  const { attributes, properties, metadata, root_span_id } = value;
  if (attributes !== undefined && attributes !== null) return recordOf(attributes);
  if (isObject(properties)) return properties;
  if (root_span_id !== undefined && isObject(metadata)) return metadata;
  const prefix = "attributes.";
  const columns = Object.entries(value).map(([name, field]): [string, unknown] => [
    name.startsWith(prefix) ? name.slice(prefix.length) : name,
    field,
  ]);
  return Object.fromEntries(columns);
}

/** OTLP's list of keys and values as a record; a record as it is. */
function recordOf(attributes: unknown): Record<string, unknown> {
  if (isObject(attributes)) return attributes;
  if (!Array.isArray(attributes)) return {};
  return Object.fromEntries(
    attributes.flatMap((one): [string, unknown][] => {
      const key = textIn(one, "key");
      return key === undefined || !isObject(one) ? [] : [[key, plainValue(one.value)]];
    }),
  );
}

/** The plain value of a value in OTLP's form. */
function plainValue(value: unknown): unknown {
  if (!isObject(value)) return value;
  const [[kind, inner] = ["", undefined], ...others] = Object.entries(value);
  if (others.length > 0) return value;
  switch (kind.replace(/_v/, "V")) {
    case "intValue":
      // A longer integer would lose digits as a number.
      if (typeof inner === "string")
        return /^-?\d+$/.test(inner) && Number.isSafeInteger(Number(inner)) ? Number(inner) : inner;
      return Number.isInteger(inner) && !Number.isSafeInteger(inner)
        ? numberText(Number(inner), value, kind)
        : inner;
    case "doubleValue":
      return typeof inner === "string" && inner.trim() !== "" ? Number(inner) : inner;
    case "stringValue":
    case "boolValue":
    case "bytesValue":
      return inner;
    case "arrayValue":
      return listIn(inner, "values").map(plainValue);
    case "kvlistValue":
      return recordOf(listIn(inner, "values"));
    default:
      return others.length === 0 && kind === "" ? undefined : value;
  }
}

/** The elements of a list by its dotted name: as a list, as an object with numbers as keys, or as fields `NAME.0.rest`. */
export function listAt(value: unknown, name: string): unknown[] {
  const found = parsed(fieldAt(value, name));
  if (Array.isArray(found)) return found;
  if (isObject(found)) return inOrder(found);
  if (!isObject(value)) return [];
  const elements: Record<string, Record<string, unknown>> = {};
  for (const [key, field] of Object.entries(value)) {
    if (!key.startsWith(`${name}.`)) continue;
    const [number = "", ...rest] = key.slice(name.length + 1).split(".");
    if (!/^\d+$/.test(number)) continue;
    elements[number] ??= {};
    Object.assign(
      elements[number],
      rest.length === 0 && isObject(field) ? field : { [rest.join(".")]: field },
    );
  }
  return inOrder(elements);
}

/** An object's fields with numbers as names, in order. */
function inOrder(elements: Record<string, unknown>): unknown[] {
  const numbers = Object.keys(elements).filter((key) => /^\d+$/.test(key));
  return numbers.sort((one, other) => Number(one) - Number(other)).map((key) => elements[key]);
}

/** The value of a text that is a JSON list, object or string; anything else unchanged. */
export function parsed(value: unknown): unknown {
  if (typeof value !== "string" || !/^\s*[[{"]/.test(value)) return value;
  const said = parsedText(value);
  // Some tracers write JSON as JSON text again.
  return typeof said === "string" && said.length < value.length ? parsed(said) : said;
}

/** The first of these fields that is a time: as RFC 3339, and as a text that sorts in order of time. */
export function timeIn(
  value: Record<string, unknown>,
  names: readonly string[],
): { at: string; order: string } | undefined {
  for (const name of names) {
    const field = fieldAt(value, name);
    const isNanoseconds = /nano$/i.test(name);
    const nanoseconds = isNanoseconds ? nanosecondsOf(field) : undefined;
    if (nanoseconds !== undefined) {
      const ms = new Date(Number(nanoseconds / 1_000_000n)).toISOString().slice(0, -1);
      const rest = String(nanoseconds % 1_000_000n)
        .padStart(6, "0")
        .replace(/0+$/, "");
      return { at: `${ms}${rest}Z`, order: orderOf(nanoseconds) };
    }
    const at = isNanoseconds ? undefined : timeOf(field);
    if (at === undefined) continue;
    const [, fraction = ""] = /:\d\d\.(\d+)/.exec(at) ?? [];
    const seconds = BigInt(Math.floor(Date.parse(at) / 1000));
    return { at, order: orderOf(seconds * 1_000_000_000n + BigInt(fraction.slice(0, 9).padEnd(9, "0"))) };
  }
  return undefined;
}

function nanosecondsOf(field: unknown): bigint | undefined {
  const isInteger = typeof field === "string" ? /^\d{1,19}$/.test(field) : Number.isInteger(field);
  const found = isInteger ? BigInt(field as string | number) : 0n;
  return found > 0n && found < 1n << 63n ? found : undefined;
}

function orderOf(nanoseconds: bigint): string {
  return String(nanoseconds > 0n ? nanoseconds : 0n).padStart(20, "0");
}
