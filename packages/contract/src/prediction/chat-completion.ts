import { z } from "zod";
import { list } from "../list.ts";
import { Context, Interaction, Params, samplingFields } from "./prediction.ts";

export const ChatMessage = z
  .looseObject({
    role: z.enum(["system", "user", "assistant"]).meta({ description: "Who wrote the message." }),
    content: z.string().meta({ description: "The message's text." }),
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
    id: z.string().meta({ description: "The completion's id at the upstream." }),
    object: z.string().meta({ description: "`chat.completion`." }),
    created: z.int().meta({ description: "Seconds since 1970-01-01 UTC." }),
    model: z.string().meta({ description: "The model that answered." }),
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
