import { z } from "zod";

/** One version of a family of evaluators. */
export const Evaluator = z
  .object({
    id: z
      .string()
      .meta({ description: "The family's name and the version's date, for example exact-match-2026-11-21." }),
    name: z.string(),
    evaluator_family: z.string(),
    aliases: z
      .array(z.string())
      .meta({ description: "Other names; the family's points at its newest version." }),
    description: z.string(),
    profile_required: z
      .boolean()
      .meta({ description: "Whether a profile must be named: the family has no default." }),
    evaluation_enabled: z.boolean(),
    evaluation_run_enabled: z.boolean(),
  })
  .meta({ id: "Evaluator" });
export type Evaluator = z.infer<typeof Evaluator>;

export const EvaluatorListResponse = z
  .object({ evaluators: z.array(Evaluator) })
  .meta({ id: "EvaluatorListResponse" });
export type EvaluatorListResponse = z.infer<typeof EvaluatorListResponse>;

/** A kind of evaluator: what it looks at and how it can be set up. */
export const EvaluatorFamily = z
  .object({
    family_name: z.string(),
    description: z.string(),
    required_input_fields: z.array(z.string()),
    optional_input_fields: z.array(z.string()),
    uses_model: z.boolean().meta({
      description: "Whether an evaluation asks a model: it costs a call, and may come to no verdict.",
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
