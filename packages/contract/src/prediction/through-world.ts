import { z } from "zod";
import { list, valuesByName } from "../custom-schemas.ts";
import { boolean, boundedText, count, countOrNull, figure, number, shortText, string } from "../text.ts";

const referencePattern = /^([a-z0-9][a-z0-9-]{0,62})(?:@([1-9]\d{0,8}))?$/;
const notAReference = "Input should be the name of a world, or one of its revisions as NAME@NUMBER";

/** A world, or with a number one of its revisions: `shop` or `shop@3`. */
export const WorldReference = z.string().regex(referencePattern, notAReference);

/** The name and revision in a reference; undefined if the text is not a reference. */
export function readWorldReference(text: string): { name: string; revision: number | undefined } | undefined {
  const [, name, revision] = referencePattern.exec(text) ?? [];
  if (name === undefined) return undefined;
  return { name, revision: revision === undefined ? undefined : Number(revision) };
}

/** The reference to a revision of a world, as `readWorldReference` reads it. */
export function worldReference({ name, revision }: { name: string; revision: number }): string {
  return `${name}@${revision}`;
}

/** Tags of recorded samples, by name. */
export const exampleTags = valuesByName(shortText(200), boundedText(1_000));

/** A step that came before. */
export const HistoryStep = z
  .strictObject({
    action: z.string().min(1).meta({ description: "What the agent did." }),
    next_state: string("What the environment answered."),
  })
  .meta({ id: "HistoryStep" });
export type HistoryStep = z.infer<typeof HistoryStep>;

/** What a request through a world may have besides its interaction. */
export const worldRequestFields = {
  history: list(HistoryStep).max(64).nullish().meta({
    description: "The steps before this one, oldest first, at most 64. Only with a world.",
  }),
  exclude: z
    .strictObject({
      trajectory_ids: list(shortText(200)).max(1_000).nullish().meta({
        description: "Trajectories whose examples are left out.",
      }),
      tags: exampleTags.nullish().meta({ description: "Examples with one of these tags are left out." }),
    })
    .nullish()
    .meta({ description: "Examples that are left out. Only with a world." }),
};

const scoresSay: Record<"agreement" | "logprob" | "stated" | "retrieval", string> = {
  agreement: "The share of equal answers among several.",
  logprob: "The exponential of the tokens' mean log probability.",
  stated: "What the model said when it was asked.",
  retrieval: "The nearest example's similarity, times how far similar examples agree with it.",
};

const similarity = number("From 0 to 1.");

/** How the certainty of an answer is measured. */
export const ConfidenceMethod = z.enum(["agreement", "logprob", "stated", "retrieval"]);
export type ConfidenceMethod = z.infer<typeof ConfidenceMethod>;

/** The score by each method, from 0 to 1. */
export const WorldScores = z
  .object(
    Object.fromEntries(
      ConfidenceMethod.options.map((method) => [
        method,
        z.number().optional().meta({ description: scoresSay[method] }),
      ]),
    ) as Record<ConfidenceMethod, z.ZodOptional<z.ZodNumber>>,
  )
  .meta({ id: "WorldScores" });
export type WorldScores = z.infer<typeof WorldScores>;

/** Which records a prediction leaned on, and why those. */
export const WorldExplanation = z
  .object({
    examples: z
      .array(
        z.object({
          dataset_sample_id: z.string().optional().meta({ description: "The example's id in its dataset." }),
          trajectory_id: z.string().optional().meta({ description: "Its trajectory." }),
          similarity: number("Similarity to the request, rounded to 6 decimals."),
          by: z
            .object({ action: similarity, state: similarity, task: similarity })
            .meta({ description: "The similarity of each field." }),
          chars: count("How much of `max_chars` it takes."),
        }),
      )
      .meta({
        description:
          "The most similar first. Keys that may not read datasets are not told which ones they are.",
      }),
    left_out: z
      .object({
        trajectory: count("Those of the request's own trajectory or task, or excluded by it."),
        duplicate: count("Those with the same action and next state as a chosen one."),
        budget: count("Those too long for what was left of `max_chars`."),
        filter: count("Samples of the dataset that are not among the world's examples."),
      })
      .meta({ description: "How many examples were passed over." }),
    truncated: boolean("Whether some were not compared, because 50,000 with more similar actions were."),
    reduced: boolean("Whether only half of the examples were sent, because all were too long for the model."),
    score: figure("How sure the answer is, before calibration, from 0 to 1; null if the world does not ask."),
    scores: WorldScores.meta({ description: "The score by each of the world's methods." }),
    predictions: count("How many completions the answer took."),
    prompt_tokens_of_examples: countOrNull(
      "About how many prompt tokens the examples took, by their share of the characters; null in a preview.",
    ),
    cost_of_examples: figure(
      "What these tokens cost, in the price list's currency; null if the model has no price.",
    ),
    retrieval_ms: number("How long finding them took, in milliseconds."),
  })
  .meta({ id: "WorldExplanation" });
export type WorldExplanation = z.infer<typeof WorldExplanation>;

/** The world that made a prediction. */
export const AnsweringWorld = z
  .object({
    name: string("The world's name."),
    revision: count("The number of its revision."),
    answered_by: string("The name of the deployment that answered, or `retrieval`: the records alone."),
  })
  .meta({ id: "AnsweringWorld" });
export type AnsweringWorld = z.infer<typeof AnsweringWorld>;

/** The world of a stored prediction, with the examples that it leaned on. */
export const StoredWorld = z
  .object({
    ...AnsweringWorld.shape,
    scores: WorldScores.optional().meta({ description: "How sure the answer was, by each method." }),
    confidence: z.number().nullable().optional().meta({ description: "As it was answered." }),
    abstained: z.boolean().optional().meta({ description: "As it was answered." }),
    escalated: z.boolean().optional().meta({
      description:
        "Whether another deployment answered, because the first was not sure enough: the scores are of the first.",
    }),
    examples: z
      .array(
        WorldExplanation.shape.examples.element.pick({
          dataset_sample_id: true,
          trajectory_id: true,
          similarity: true,
        }),
      )
      .meta({ description: "The most similar first." }),
  })
  .meta({ id: "StoredWorld" });
export type StoredWorld = z.infer<typeof StoredWorld>;
