import { samplingDefaults } from "@presage/contract/sampling-defaults";
import type { Params } from "@presage/sdk";

export interface SentField {
  name: string;
  /** As JSON, to tell strings from numbers. */
  value: string;
  note?: string | undefined;
}

const notes: Record<string, string> = {
  enable_thinking: "also sent as chat_template_kwargs.enable_thinking",
  reasoning_budget: "also sent as reasoning_effort",
};

/** What is sent to the model besides the messages. */
export function sentFields(params: Params | undefined, model: string | undefined): SentField[] {
  const set = Object.entries(params ?? {}).filter(([, value]) => value !== null && value !== undefined);
  const names = new Set(set.map(([name]) => name));
  // The newer name of the same limit replaces the default.
  if (names.has("max_completion_tokens")) names.add("max_tokens");
  const { max_tokens, temperature, top_p } = samplingDefaults;
  const defaults = Object.entries({ max_tokens, temperature, top_p }).filter(([name]) => !names.has(name));
  const modelField: SentField[] =
    names.has("model") || model === undefined
      ? []
      : [{ name: "model", value: JSON.stringify(model), note: "server default" }];
  return [
    ...modelField,
    ...defaults.map(([name, value]) => ({ name, value: JSON.stringify(value), note: "default" })),
    ...set.map(([name, value]) => ({ name, value: JSON.stringify(value), note: notes[name] })),
  ];
}
