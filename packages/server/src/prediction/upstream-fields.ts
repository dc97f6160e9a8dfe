import { samplingDefaults } from "@presage/contract/sampling-defaults";

type Fields = Readonly<Record<string, unknown>>;

/**
 * The fields of a request to the upstream besides the model and the messages: the three sampling fields always, all others as
 * the client set them. Null is treated as not set.
 */
export function upstreamFields(set: Fields): Record<string, unknown> {
  const { max_tokens, temperature, top_p } = samplingDefaults;
  const fields: Record<string, unknown> = { max_tokens, temperature, top_p, ...withoutNulls(set) };
  // If the client limits the tokens by OpenAI's newer name, our default for the older one must not contradict it.
  if (isSet(set.max_completion_tokens) && !isSet(set.max_tokens)) delete fields.max_tokens;
  // SGLang and vLLM read the two thinking switches from the arguments of their chat templates.
  if (isSet(set.enable_thinking)) {
    fields.chat_template_kwargs = withDefault(
      fields.chat_template_kwargs,
      "enable_thinking",
      set.enable_thinking,
    );
  }
  if (isSet(set.reasoning_budget)) fields.reasoning_effort ??= set.reasoning_budget;
  return fields;
}

function withoutNulls(fields: Fields): Fields {
  const names = Object.keys(fields);
  if (!names.some((name) => fields[name] === null)) return fields;
  return Object.fromEntries(
    names.filter((name) => fields[name] !== null).map((name) => [name, fields[name]]),
  );
}

function withDefault(holder: unknown, name: string, value: unknown): unknown {
  if (holder === undefined) return { [name]: value };
  const mayHold = typeof holder === "object" && holder !== null && !Array.isArray(holder);
  return mayHold ? { [name]: value, ...holder } : holder;
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null;
}
