import { z } from "zod";

/** One version of an evaluator family. */
export const Evaluator = z
  .object({
    id: z
      .string()
      .meta({ description: "The family's name and the version's date, for example exact-match-2026-11-21." }),
    name: z.string(),
    evaluator_family: z.string(),
    aliases: z
      .array(z.string())
      .meta({ description: "Other names. The family's name refers to its newest version." }),
    description: z.string(),
    profile_required: z
      .boolean()
      .meta({ description: "Whether a profile must be named, because the family has no default." }),
    evaluation_enabled: z.boolean(),
    evaluation_run_enabled: z.boolean(),
  })
  .meta({ id: "Evaluator" });
export type Evaluator = z.infer<typeof Evaluator>;

export const EvaluatorListResponse = z
  .object({ evaluators: z.array(Evaluator) })
  .meta({ id: "EvaluatorListResponse" });
export type EvaluatorListResponse = z.infer<typeof EvaluatorListResponse>;

/** A kind of evaluator: the fields it reads and how it can be configured. */
export const EvaluatorFamily = z
  .object({
    family_name: z.string(),
    description: z.string(),
    required_input_fields: z.array(z.string()),
    optional_input_fields: z.array(z.string()),
    uses_model: z.boolean().meta({
      description: "Whether an evaluation calls a model. That costs tokens and may fail.",
    }),
    profile_config_schema: z
      .record(z.string(), z.unknown())
      .meta({ description: "JSON Schema of a profile's config." }),
  })
  .meta({ id: "EvaluatorFamily" });
export type EvaluatorFamily = z.infer<typeof EvaluatorFamily>;

export const EvaluatorFamilyListResponse = z
  .object({ evaluator_families: z.array(EvaluatorFamily) })
  .meta({ id: "EvaluatorFamilyListResponse" });
export type EvaluatorFamilyListResponse = z.infer<typeof EvaluatorFamilyListResponse>;
