import { z } from "zod";
import { samplingDefaults } from "./sampling-defaults.ts";

/** What the world model is told about the environment before the interaction. Empty sections are left out of the prompt. */
export const Context = z
  .strictObject({
    environment_state: z.string().nullish().meta({ description: "Layout and contents of the environment." }),
    task_context: z.string().nullish().meta({ description: "What the agent is trying to do." }),
    tool_schemas: z.string().nullish().meta({ description: "The tools that actions may call." }),
    domain_knowledge: z.string().nullish().meta({ description: "Rules that the environment follows." }),
    steering_directives: z.string().nullish().meta({ description: "How the answer should be written." }),
  })
  .meta({ id: "Context" });
export type Context = z.infer<typeof Context>;

/** One step: the state the environment is in, and what the agent does. */
export const Interaction = z
  .strictObject({
    state: z
      .string()
      .min(1)
      .meta({ description: "The state before the action, in the environment's own words." }),
    action: z.string().min(1).meta({ description: "What the agent does." }),
  })
  .meta({ id: "Interaction" });
export type Interaction = z.infer<typeof Interaction>;

/** The four sampling fields that a chat request may also carry at its top level. */
export const samplingFields = {
  max_tokens: z.int().gt(0).optional().meta({
    default: samplingDefaults.max_tokens,
    description: "Most tokens that the answer may have.",
  }),
  temperature: z.number().gte(0).optional().meta({
    default: samplingDefaults.temperature,
    description: "Sampling temperature; 0 takes the likeliest token.",
  }),
  top_p: z.number().gt(0).lte(1).optional().meta({
    default: samplingDefaults.top_p,
    description: "Nucleus sampling: the share of probability that is kept.",
  }),
  top_k: z.int().gte(0).optional().meta({
    default: samplingDefaults.top_k,
    description: "Number of likeliest tokens that are kept; 0 is off and is not sent to the upstream.",
  }),
};

/** Sampling and decoding. Unknown properties are forwarded to the upstream. */
export const Params = z
  .looseObject({
    ...samplingFields,
    enable_thinking: z.boolean().nullish().meta({
      description: "Also sent as chat_template_kwargs.enable_thinking.",
    }),
    reasoning_budget: z.enum(["low", "medium", "high"]).nullish().meta({
      description: "Also sent as reasoning_effort.",
    }),
  })
  .meta({ id: "Params" });
export type Params = z.infer<typeof Params>;

/** Body of `POST /v1/predict`. */
export const WorldModelRequest = z
  .strictObject({
    context: Context.nullish(),
    interaction: Interaction,
    params: Params.optional(),
  })
  .meta({ id: "WorldModelRequest" });
export type WorldModelRequest = z.infer<typeof WorldModelRequest>;

export const AssistantMessage = z
  .object({ role: z.literal("assistant").meta({ default: "assistant" }), content: z.string() })
  .meta({ id: "AssistantMessage" });

/** A turn of the composed prompt. */
export const PromptMessage = z
  .object({ role: z.enum(["system", "user"]), content: z.string() })
  .meta({ id: "PromptMessage" });
export type PromptMessage = z.infer<typeof PromptMessage>;

export const Usage = z
  .object({
    prompt_tokens: z.int().meta({ description: "Tokens of the prompt, as the upstream counts them." }),
    completion_tokens: z.int().meta({ description: "Tokens of the answer, as the upstream counts them." }),
  })
  .meta({ id: "Usage", description: "Zeros where the upstream reports no usage." });
export type Usage = z.infer<typeof Usage>;

/** Answer of `POST /v1/predict`. */
export const WorldModelPrediction = z
  .object({
    response: AssistantMessage,
    reasoning: z
      .string()
      .nullable()
      .optional()
      .meta({ description: "What the model thought before it answered." }),
    finish_reason: z.string().nullable().optional(),
    usage: Usage,
    matched_stop: z.union([z.int(), z.string()]).nullable().meta({
      description: "The stop token or string that ended the answer.",
    }),
  })
  .meta({ id: "WorldModelPrediction" });
export type WorldModelPrediction = z.infer<typeof WorldModelPrediction>;

/** Answer of `POST /v1/predict` where the deployment enables debug fields. */
export const WorldModelResponse = WorldModelPrediction.extend({
  messages: z.array(PromptMessage).meta({ description: "The prompt as it was sent." }),
}).meta({ id: "WorldModelResponse" });
export type WorldModelResponse = z.infer<typeof WorldModelResponse>;
