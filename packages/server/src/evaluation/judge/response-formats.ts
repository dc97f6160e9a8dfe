import { readText, readToolArguments } from "../../upstream/read-message.ts";
import type { CompletionChoice } from "../../upstream/upstream.ts";
import { jsonInText, tryParse } from "./json-in-text.ts";
import type { VerdictForm } from "./verdict-form.ts";

/** A way to get a verdict in its form, the surest first. */
export const rungNames = ["json_schema", "tool_call", "text"] as const;
export type RungName = (typeof rungNames)[number];

interface Rung {
  /** What it adds to the request. */
  fields(form: VerdictForm<unknown>): Record<string, unknown>;
  /** What in the answer may be the verdict, the likeliest first. */
  candidates(choice: CompletionChoice, form: VerdictForm<unknown>, prompt: string): Iterable<unknown>;
}

export const rungs: Record<RungName, Rung> = {
  json_schema: {
    fields: ({ name, jsonSchema }) => ({
      response_format: { type: "json_schema", json_schema: { name, strict: true, schema: jsonSchema } },
    }),
    // A server that holds the model to the schema sends nothing else; one that does not has ignored it.
    candidates: (choice) => [tryParse(readText(choice))],
  },
  tool_call: {
    fields: ({ name, jsonSchema }) => ({
      tools: [
        { type: "function", function: { name, description: "Gives the verdict.", parameters: jsonSchema } },
      ],
      tool_choice: { type: "function", function: { name } },
    }),
    candidates(choice, { name }) {
      const given = readToolArguments(choice, name);
      return [typeof given === "string" ? tryParse(given) : given];
    },
  },
  text: {
    fields: () => ({}),
    *candidates(choice, { decidingKey }, prompt) {
      const told = withoutSpace(prompt);
      for (const { source, value } of jsonInText(readText(choice), decidingKey)) {
        // What stands in the prompt already is a quotation, whoever planted it there, and no answer.
        if (!told.includes(withoutSpace(source))) yield value;
      }
    },
  },
};

function withoutSpace(text: string): string {
  return text.replace(/\s+/g, "");
}
