import { endOfThinking, readMessage } from "../../upstream/completion.ts";
import type { CompletionChoice } from "../../upstream/upstream.ts";
import { jsonInText, tryParse } from "./json-in-text.ts";
import type { VerdictForm } from "./verdict-form.ts";

/** Ways to get a verdict from a model, the most reliable first. */
export const responseFormatNames = ["json_schema", "tool_call", "text"] as const;
export type ResponseFormatName = (typeof responseFormatNames)[number];

interface ResponseFormat {
  /** What it adds to the request. */
  fields(form: VerdictForm<unknown>): Record<string, unknown>;
  /** What in the response may be the verdict, the likeliest first. */
  candidates(choice: CompletionChoice, form: VerdictForm<unknown>, prompt: string): Iterable<unknown>;
}

export const responseFormats: Record<ResponseFormatName, ResponseFormat> = {
  json_schema: {
    fields: ({ name, jsonSchema }) => ({
      response_format: { type: "json_schema", json_schema: { name, strict: true, schema: jsonSchema } },
    }),
    // A server that enforces the schema sends nothing else; one that sends more has ignored it.
    candidates: (choice) => [tryParse(answerOf(choice))],
  },
  tool_call: {
    fields: ({ name, jsonSchema }) => ({
      tools: [
        { type: "function", function: { name, description: "Gives the verdict.", parameters: jsonSchema } },
      ],
      tool_choice: { type: "function", function: { name } },
    }),
    candidates(choice, { name }) {
      const given = toolArguments(choice, name);
      return [typeof given === "string" ? tryParse(given) : given];
    },
  },
  text: {
    fields: () => ({}),
    *candidates(choice, { decidingKey }, prompt) {
      const sent = withoutSpace(prompt);
      for (const { source, value } of jsonInText(answerOf(choice), decidingKey)) {
        // What is already in the prompt is a quotation, and not an answer, no matter who put it there.
        if (!sent.includes(withoutSpace(source))) yield value;
      }
    },
  },
};

/** The model's answer without thoughts before it. Some servers send all of it as reasoning. */
function answerOf(choice: CompletionChoice): string {
  const { content, reasoning = "" } = readMessage(choice);
  return withoutThinking(content) || withoutThinking(reasoning);
}

function withoutThinking(said: string): string {
  const text = said.trim();
  // An answer that has begun may mention such a block.
  return text.startsWith("{") ? text : text.slice(endOfThinking(text) ?? 0).trim();
}

/** The arguments of the only call of a tool; undefined if the model did not call it, or called it more than once. */
function toolArguments({ message }: CompletionChoice, tool: string): unknown {
  const calls: unknown[] = Array.isArray(message.tool_calls) ? message.tool_calls : [];
  const functions = calls.map((call) => Object(Object(call).function) as Record<string, unknown>);
  const [called, another] = functions.filter(({ name }) => name === tool);
  return another === undefined ? called?.arguments : undefined;
}

function withoutSpace(text: string): string {
  return text.replace(/\s+/g, "");
}
