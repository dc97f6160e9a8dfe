import { isObject, listIn } from "../../content.ts";
import type { Layout, TraceDocument } from "../../layout.ts";
import { createInputs, type GenAiItem, genAiItems, withInputs } from "./otel-genai-spans.ts";
import { traceOfSpans } from "./span-turns.ts";
import { attributesOf, hasSpans, spansIn, spanValues } from "./span-values.ts";
import { spanReader } from "./spans.ts";

/** Of spans within spans. */
const maxDepth = 100;

/** Spans of OpenTelemetry's conventions for generative AI, as `gen_ai.*` attributes name what agents and tools do. */
export const otelGenAi: Layout = {
  format: "otel-genai",
  version: 1,
  about: {
    title: "OpenTelemetry GenAI spans",
    recognised_by: "`resourceSpans`, or spans with `traceId` and any attribute `gen_ai.*`",
    trajectory: "the spans of one `gen_ai.conversation.id`, else of one `traceId`",
    action:
      "spans of `gen_ai.operation.name` `execute_tool`, by start: `gen_ai.tool.name`, `gen_ai.tool.call.arguments`; if none has a result, the calls and texts of the last chat span's messages",
    answer: "`gen_ai.tool.call.result`; status code 2 is an error",
    context: "first user of `gen_ai.input.messages`; `gen_ai.tool.definitions`; `gen_ai.system_instructions`",
    also: "time from the span's end; usage from the chat span that made the call; names and events of older conventions; rows of Braintrust, PostHog and Mastra that carry these attributes",
    left_out: "metrics, other spans",
    example: `{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"7b1e","spanId":"01","name":"execute_tool shell","startTimeUnixNano":"1767225600000000000","endTimeUnixNano":"1767225601000000000","attributes":[{"key":"gen_ai.operation.name","value":{"stringValue":"execute_tool"}},{"key":"gen_ai.tool.name","value":{"stringValue":"shell"}},{"key":"gen_ai.tool.call.arguments","value":{"stringValue":"{\\"cmd\\":\\"ls drawer\\"}"}},{"key":"gen_ai.tool.call.result","value":{"stringValue":"key.txt"}}]}]}]}]}`,
  },
  recognises(document) {
    const names = attributeNames(document);
    if (names.some(isGenAi)) return hasSpans(document) ? "spans with gen_ai attributes" : undefined;
    if (names.some(isOpenInference) || !isExport(document)) return undefined;
    return "resourceSpans";
  },
  admits(document) {
    if (!isExport(document) && !hasSpans(document)) return false;
    const names = attributeNames(document);
    return names.some(isGenAi) || !names.some(isOpenInference);
  },
  open({ leftOut }) {
    const inputs = createInputs();
    return spanReader<GenAiItem>(
      (document) =>
        spansIn(document)
          .flatMap((span) => genAiItems(span, leftOut, inputs))
          .map((item) => [keysOf(item), item]),
      function* (items) {
        for (const [id, own] of byConversation(withInputs(items)))
          yield { trace: { ...traceOfSpans(withoutAgents(own), leftOut), id } };
      },
    );
  },
};

const keysOf = ({ trace, conversation }: GenAiItem) => [
  `trace ${trace}`,
  ...(conversation === undefined ? [] : [`conversation ${conversation}`]),
];
const isGenAi = (name: string) => name === "gen_ai" || name.startsWith("gen_ai.");
const isOpenInference = (name: string) => name === "openinference" || name.startsWith("openinference.");

function isExport({ value, within }: TraceDocument): boolean {
  const isWhole = ["resourceSpans", "resource_spans", "scopeSpans", "scope_spans"].some(
    (name) => isObject(value) && Array.isArray(value[name]),
  );
  return isWhole || (within !== undefined && /^resource_?spans$/i.test(within));
}

/** The names of the attributes of a document's spans and of their events. */
function attributeNames(document: TraceDocument): string[] {
  return spanValues(document).flatMap(([span]) => {
    const events = listIn(span, "events").map((event) => (isObject(event) ? String(event.name) : ""));
    return [...Object.keys(attributesOf(span)), ...events];
  });
}

/** The spans of each conversation. One that names none is of the conversation of what it is a part of, else of its trace's first. */
function byConversation(items: readonly GenAiItem[]): Map<string, GenAiItem[]> {
  const byId = new Map(items.map((item) => [`${item.trace} ${item.id}`, item]));
  const firsts = new Map<string, string>();
  for (const { trace, conversation } of items)
    if (conversation !== undefined && !firsts.has(trace)) firsts.set(trace, conversation);
  const found = new Map<string, GenAiItem[]>();
  for (const item of items) {
    let of: GenAiItem | undefined = item;
    for (let depth = 0; of !== undefined && of.conversation === undefined && depth < maxDepth; depth += 1)
      of = byId.get(`${of.trace} ${of.parent}`);
    const id = of?.conversation ?? firsts.get(item.trace) ?? item.trace;
    const own = found.get(id);
    if (own === undefined) found.set(id, [item]);
    else own.push(item);
  }
  return found;
}

/** What agents were told and said counts only if no model's call has messages. */
function withoutAgents(items: readonly GenAiItem[]): readonly GenAiItem[] {
  const hasMessages = items.some(
    ({ model, isAgents }) => isAgents !== true && (model?.input.length ?? 0) > 0,
  );
  return hasMessages ? items.filter(({ isAgents }) => isAgents !== true) : items;
}
