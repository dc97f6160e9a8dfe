import { z } from "zod";
import { list } from "../list.ts";
import { objectWithRule } from "../object-with-rule.ts";
import { ChatCompletionRequest } from "./chat-completion.ts";
import { samplingFields } from "./prediction.ts";

const OpenAiTextPart = z
  .looseObject({
    type: z.literal("text").meta({ description: "Parts of other types are refused." }),
    text: z.string().meta({ description: "The part's text." }),
  })
  .meta({ id: "OpenAiTextPart" });

/** Of these, a message may be nothing but the calls of tools, or their results. */
const mayBeEmpty: readonly unknown[] = ["assistant", "function"];

export const OpenAiChatMessage = objectWithRule(
  {
    role: z.enum(["system", "developer", "user", "assistant", "tool", "function"]).meta({
      description: "Who wrote the message. `developer` counts as `system`.",
    }),
    content: z
      .union([z.string(), list(OpenAiTextPart)])
      .nullish()
      .meta({
        description:
          "The message's text, or its parts, which become lines of it. Required, but of `assistant` and `function`.",
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
