import { z } from "zod";
import { samplingDefaults } from "../defaults.ts";
import { count, string } from "../text.ts";
import { AnsweringWorld, WorldExplanation, WorldReference, worldRequestFields } from "./through-world.ts";

/** Background for the world model. Empty sections are left out of the prompt. */
export const Context = z
  .strictObject({
    environment_state: z.string().nullish().meta({ description: "Layout and contents of the environment." }),
    task_context: z.string().nullish().meta({ description: "What the agent is trying to do." }),
    tool_schemas: z.string().nullish().meta({ description: "The tools that actions may call." }),
    domain_knowledge: z.string().nullish().meta({ description: "Rules that the environment follows." }),
    steering_directives: z.string().nullish().meta({ description: "How the response should be written." }),
  })
  .meta({ id: "Context" });
export type Context = z.infer<typeof Context>;

/** One step: the environment's state and the agent's action. */
export const Interaction = z
  .strictObject({
    state: z
      .string()
      .min(1)
      .meta({ description: "The state before the action, as the environment describes it." }),
    action: z.string().min(1).meta({ description: "What the agent does." }),
  })
  .meta({ id: "Interaction" });
export type Interaction = z.infer<typeof Interaction>;

/** The four sampling fields that a chat request may also have at its top level. */
export const samplingFields = {
  max_tokens: z.int().gt(0).optional().meta({
    default: samplingDefaults.max_tokens,
    description: "Maximum number of tokens in the completion.",
  }),
  temperature: z.number().gte(0).optional().meta({
    default: samplingDefaults.temperature,
    description: "Sampling temperature; 0 picks the most likely token.",
  }),
  top_p: z.number().gt(0).lte(1).optional().meta({
    default: samplingDefaults.top_p,
    description: "Nucleus sampling: the cumulative probability to sample from.",
  }),
  top_k: z.int().gte(0).optional().meta({
    default: samplingDefaults.top_k,
    description: "Number of most likely tokens to sample from; 0 disables the limit.",
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
    context: Context.nullish().meta({ description: "Background for the world model." }),
    interaction: Interaction.meta({ description: "The step to predict." }),
    params: Params.optional().meta({ description: "Sampling and decoding." }),
    world: WorldReference.nullish().meta({
      description: "The world that predicts, as in the header `x-presage-world`: NAME, or NAME@NUMBER.",
    }),
    ...worldRequestFields,
    explain: z.boolean().nullish().meta({
      default: false,
      description: "Whether the answer says which examples it leaned on. Only with a world.",
    }),
  })
  .meta({ id: "WorldModelRequest" });
export type WorldModelRequest = z.infer<typeof WorldModelRequest>;

/** The message with the prediction. */
export const AssistantMessage = z
  .object({
    role: z.literal("assistant").meta({ default: "assistant", description: "Always `assistant`." }),
    content: string("The predicted next state."),
  })
  .meta({ id: "AssistantMessage" });

/** A turn of the composed prompt. */
export const PromptMessage = z
  .object({
    role: z
      .enum(["system", "user", "assistant"])
      .meta({ description: "Background, the step, or what an example's environment answered." }),
    content: string("The turn's text."),
  })
  .meta({ id: "PromptMessage" });
export type PromptMessage = z.infer<typeof PromptMessage>;

/** How many tokens a prediction took. */
export const Usage = z
  .object({
    prompt_tokens: count("Prompt tokens, as counted by the upstream."),
    completion_tokens: count("Completion tokens, as counted by the upstream."),
  })
  .meta({ id: "Usage", description: "Zeros if the upstream reports no usage." });
export type Usage = z.infer<typeof Usage>;

/** Response of `POST /v1/predict`. */
export const WorldModelPrediction = z
  .object({
    response: AssistantMessage.meta({ description: "The model's response." }),
    reasoning: z
      .string()
      .nullable()
      .optional()
      .meta({ description: "The model's reasoning before its response." }),
    finish_reason: z.string().nullable().optional().meta({
      description: "Why the completion ended, as the upstream reports it, for example `stop` or `length`.",
    }),
    usage: Usage.meta({ description: "Token counts; zeros if the upstream reports none." }),
    matched_stop: z.union([z.int(), z.string()]).nullable().meta({
      description: "The stop token or string that ended the completion.",
    }),
    world: AnsweringWorld.optional().meta({
      description: "The world that answered, for a prediction through a world.",
    }),
    confidence: z.number().nullable().optional().meta({
      description:
        "How likely the answer is right, from 0 to 1, if the world is asked how sure it is; null while it is not calibrated.",
    }),
    abstained: z.boolean().optional().meta({
      description: "Whether the confidence is below what the world needs.",
    }),
    explain: WorldExplanation.optional().meta({ description: "The examples, if they were asked for." }),
  })
  .meta({ id: "WorldModelPrediction" });
export type WorldModelPrediction = z.infer<typeof WorldModelPrediction>;

/** Response of `POST /v1/predict` if debug fields are enabled. */
export const WorldModelResponse = WorldModelPrediction.extend({
  messages: z.array(PromptMessage).meta({ description: "The prompt as it was sent." }),
}).meta({ id: "WorldModelResponse" });
export type WorldModelResponse = z.infer<typeof WorldModelResponse>;
