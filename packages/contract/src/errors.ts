import { z } from "zod";

/** Why an upstream failed a request, one word for each thing that a caller can do about it. */
export const ErrorCategory = z.enum(["context_exceeded", "rate_limit", "upstream", "unavailable", "timeout"]);
export type ErrorCategory = z.infer<typeof ErrorCategory>;

/** Every error but a validation error. */
export const ErrorResponse = z
  .object({
    detail: z.string().meta({ description: "What went wrong, for a person." }),
    upstream_status: z
      .int()
      .nullable()
      .optional()
      .meta({ description: "Status of the upstream's answer, if it gave one." }),
    upstream_body: z.string().nullable().optional().meta({
      description: "The upstream's answer, at most 4,096 characters of it.",
    }),
    category: z
      .string()
      .nullable()
      .optional()
      .meta({
        description: `One of ${ErrorCategory.options.join(", ")} where one applies.`,
      }),
  })
  .meta({ id: "ErrorResponse" });
export type ErrorResponse = z.infer<typeof ErrorResponse>;

/** One fault of a request, in pydantic's words. */
export const ValidationError = z
  .object({
    loc: z
      .array(z.union([z.string(), z.int()]))
      .meta({ description: "Where: body, path or query, then the way to the field." }),
    msg: z.string(),
    type: z.string(),
    input: z.unknown().optional(),
    ctx: z.record(z.string(), z.unknown()).optional(),
  })
  .meta({ id: "ValidationError" });
export type ValidationError = z.infer<typeof ValidationError>;

/** Every fault of a request, in one answer with status 422. */
export const HTTPValidationError = z
  .object({ detail: z.array(ValidationError) })
  .meta({ id: "HTTPValidationError" });
export type HTTPValidationError = z.infer<typeof HTTPValidationError>;
