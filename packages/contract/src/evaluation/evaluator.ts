import { z } from "zod";
import { storableText } from "../text.ts";

/** One version of an evaluator family. */
export const Evaluator = z
  .object({
    id: z
      .string()
      .meta({ description: "The family's name and the version's date, for example exact-match-2026-11-21." }),
    name: z.string().meta({ description: "Its name in lists." }),
    evaluator_family: z.string().meta({ description: "Its family." }),
    aliases: z
      .array(z.string())
      .meta({ description: "Other names. The family's name refers to its newest version." }),
    description: z.string().meta({ description: "What it checks." }),
    profile_required: z
      .boolean()
      .meta({ description: "Whether a profile must be named, because the family has no default." }),
    default_criteria: z
      .string()
      .nullable()
      .meta({ description: "The profile that is used if none is named; null if one must be named." }),
    evaluation_enabled: z.boolean().meta({ description: "Whether it can be used in `POST /v1/evaluate`." }),
    evaluation_run_enabled: z.boolean().meta({ description: "Whether it can be used in evaluation runs." }),
  })
  .meta({ id: "Evaluator" });
export type Evaluator = z.infer<typeof Evaluator>;

/** Query of `GET /v1/evaluators`. */
export const EvaluatorListQuery = z.object({
  by_alias_or_id: storableText().optional().meta({
    description: "Only the evaluator of this id, or the newest of this alias.",
  }),
});

export const EvaluatorListResponse = z
  .object({ evaluators: z.array(Evaluator).meta({ description: "Every version of every family, by id." }) })
  .meta({ id: "EvaluatorListResponse" });
export type EvaluatorListResponse = z.infer<typeof EvaluatorListResponse>;

/** A kind of evaluator: the fields it reads and how it can be configured. */
export const EvaluatorFamily = z
  .object({
    family_name: z.string().meta({ description: "The family's name." }),
    description: z.string().meta({ description: "What its evaluators check." }),
    required_input_fields: z
      .array(z.string())
      .meta({ description: "The fields of an evaluation that its evaluators need." }),
    optional_input_fields: z
      .array(z.string())
      .meta({ description: "The fields of an evaluation that its evaluators also read." }),
    uses_model: z.boolean().meta({
      description: "Whether an evaluation calls a model. That costs tokens and may fail.",
    }),
    needs_model: z.boolean().meta({
      description: "Whether it calls a model and none is configured: every evaluation ends in an error.",
    }),
    profile_config_schema: z
      .record(z.string(), z.unknown())
      .meta({ description: "JSON Schema of a profile's config." }),
  })
  .meta({ id: "EvaluatorFamily" });
export type EvaluatorFamily = z.infer<typeof EvaluatorFamily>;

export const EvaluatorFamilyListResponse = z
  .object({ evaluator_families: z.array(EvaluatorFamily).meta({ description: "The families." }) })
  .meta({ id: "EvaluatorFamilyListResponse" });
export type EvaluatorFamilyListResponse = z.infer<typeof EvaluatorFamilyListResponse>;
