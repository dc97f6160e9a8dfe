import { z } from "zod";
import { list, objectWithRules } from "../custom-schemas.ts";
import { count, string } from "../text.ts";
import { Context, Interaction, Params, samplingFields } from "./prediction.ts";

/** A message of a chat. */
export const ChatMessage = z
  .looseObject({
    role: z.enum(["system", "user", "assistant"]).meta({ description: "Who wrote the message." }),
    content: string("The message's text."),
  })
  .meta({ id: "ChatMessage" });
export type ChatMessage = z.infer<typeof ChatMessage>;

/**
 * Body of `POST /v1/chat/completions`. With `context` or `interaction` the prompt is composed as for a prediction;
 * otherwise `messages` are forwarded as they are. Unknown properties are forwarded to the upstream.
 */
export const ChatCompletionRequest = z
  .looseObject({
    model: z.string().nullish().meta({ description: "Defaults to the served model." }),
    messages: list(ChatMessage).optional().meta({ description: "Used in pass-through mode only." }),
    context: Context.nullish().meta({
      description: "Background for the model. With it or `interaction`, the prompt is composed.",
    }),
    interaction: Interaction.nullish().meta({ description: "Required in structured mode." }),
    params: Params.nullish().meta({ description: "Replaces the top-level sampling fields." }),
    ...samplingFields,
    stream: z.boolean().optional().meta({
      const: false,
      default: false,
      description: "Streaming is not supported; true is refused with 400.",
    }),
  })
  .meta({ id: "ChatCompletionRequest" });
export type ChatCompletionRequest = z.infer<typeof ChatCompletionRequest>;

/** The upstream's completion, byte for byte. */
export const ChatCompletionResponse = z
  .looseObject({
    id: string("The completion's id at the upstream."),
    object: string("`chat.completion`."),
    created: count("Seconds since 1970-01-01 UTC."),
    model: string("The model that answered."),
    choices: z
      .array(z.looseObject({}))
      .meta({ description: "The generated messages, as OpenAI describes them." }),
    usage: z
      .looseObject({})
      .nullable()
      .optional()
      .meta({ description: "Token counts, if the upstream reports them." }),
  })
  .meta({ id: "ChatCompletionResponse" });
export type ChatCompletionResponse = z.infer<typeof ChatCompletionResponse>;

const OpenAiTextPart = z
  .looseObject({
    type: z.literal("text").meta({ description: "Parts of other types are refused." }),
    text: string("The part's text."),
  })
  .meta({ id: "OpenAiTextPart" });

/** The roles whose messages may consist of nothing but tool calls, or their results. */
const mayBeEmpty: readonly unknown[] = ["assistant", "function"];

/** A message of a chat in OpenAI's format, with tools and parts. */
export const OpenAiChatMessage = objectWithRules(
  {
    role: z.enum(["system", "developer", "user", "assistant", "tool", "function"]).meta({
      description: "Who wrote the message. `developer` counts as `system`.",
    }),
    content: z
      .union([z.string(), list(OpenAiTextPart)])
      .nullish()
      .meta({
        description:
          "The message's text, or its parts, which become lines of it. Required except for `assistant` and `function`.",
      }),
  },
  {
    isKept: ({ role, content }: { role?: unknown; content?: unknown }) =>
      (content !== undefined && content !== null) || mayBeEmpty.includes(role),
    path: ["content"],
    message: "Content is required",
    jsonSchema: {
      anyOf: [
        { required: ["content"], properties: { content: { type: ["string", "array"] } } },
        { properties: { role: { enum: mayBeEmpty } } },
      ],
    },
  },
).meta({ id: "OpenAiChatMessage" });
export type OpenAiChatMessage = z.infer<typeof OpenAiChatMessage>;

function orNull<Field extends z.ZodType>(field: Field) {
  return field.nullable().meta(field.meta() ?? {});
}

/** Body of `POST /v1/chat/completions` where it is compatible with OpenAI's clients. A null counts as absent. */
export const OpenAiChatCompletionRequest = ChatCompletionRequest.extend({
  messages: list(OpenAiChatMessage).nullish().meta({ description: "Used in pass-through mode only." }),
  max_tokens: orNull(samplingFields.max_tokens),
  temperature: orNull(samplingFields.temperature),
  top_p: orNull(samplingFields.top_p),
  top_k: orNull(samplingFields.top_k),
  stream: z.boolean().nullish().meta({
    default: false,
    description: "Sends the completion, once it is finished, as server-sent events.",
  }),
  stream_options: z
    .looseObject({
      include_usage: z.boolean().nullish().meta({ description: "Ends the stream with the token counts." }),
    })
    .nullish()
    .meta({ description: "How to stream." }),
}).meta({ id: "OpenAiChatCompletionRequest" });
export type OpenAiChatCompletionRequest = z.infer<typeof OpenAiChatCompletionRequest>;
