import { samplingDefaults } from "@presage/contract/sampling-defaults";
import type { Params } from "@presage/sdk";

export interface SentField {
  name: string;
  /** As JSON, so that a text is told from a number. */
  value: string;
  note?: string;
}

const notes: Record<string, string> = {
  enable_thinking: "also sent as chat_template_kwargs.enable_thinking",
  reasoning_budget: "also sent as reasoning_effort",
};

/** What goes to the model beside the messages. */
export function sentFields(params: Params | undefined, model: string | undefined): SentField[] {
  const set = Object.entries(params ?? {}).filter(([, value]) => value !== null && value !== undefined);
  const names = new Set(set.map(([name]) => name));
  // A newer name for the same bound takes the default’s place.
  if (names.has("max_completion_tokens")) names.add("max_tokens");
  const { max_tokens, temperature, top_p } = samplingDefaults;
  const defaults = Object.entries({ max_tokens, temperature, top_p }).filter(([name]) => !names.has(name));
  const modelField: SentField[] =
    names.has("model") || model === undefined
      ? []
      : [{ name: "model", value: JSON.stringify(model), note: "the server’s" }];
  return [
    ...modelField,
    ...defaults.map(([name, value]) => ({ name, value: JSON.stringify(value), note: "default" })),
    ...set.map(([name, value]) => {
      const note = notes[name];
      return { name, value: JSON.stringify(value), ...(note !== undefined && { note }) };
    }),
  ];
}
