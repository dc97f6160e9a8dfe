import { z } from "zod";

/** Why a request failed, one category for each thing that a caller can do about it. */
export const ErrorCategory = z.enum(["context_exceeded", "rate_limit", "upstream", "unavailable", "timeout"]);
export type ErrorCategory = z.infer<typeof ErrorCategory>;

/** Every error except a validation error. */
export const ErrorResponse = z
  .object({
    detail: z.string().meta({ description: "What went wrong, as a sentence." }),
    upstream_status: z
      .int()
      .nullable()
      .optional()
      .meta({ description: "Status of the upstream's response, if there was one." }),
    upstream_body: z.string().nullable().optional().meta({
      description: "Up to 4,096 characters of the upstream's response.",
    }),
    category: z
      .string()
      .nullable()
      .optional()
      .meta({
        description: `One of ${ErrorCategory.options.join(", ")}, if one applies.`,
      }),
  })
  .meta({ id: "ErrorResponse" });
export type ErrorResponse = z.infer<typeof ErrorResponse>;

/** One validation issue of a request, as pydantic words it. */
export const ValidationError = z
  .object({
    loc: z
      .array(z.union([z.string(), z.int()]))
      .meta({ description: "Where: body, path or query, then the path to the field." }),
    msg: z.string(),
    type: z.string(),
    input: z.unknown().optional(),
    ctx: z.record(z.string(), z.unknown()).optional(),
  })
  .meta({ id: "ValidationError" });
export type ValidationError = z.infer<typeof ValidationError>;

/** The validation issues of a request: the body of a 422 response. */
export const HTTPValidationError = z
  .object({ detail: z.array(ValidationError) })
  .meta({ id: "HTTPValidationError" });
export type HTTPValidationError = z.infer<typeof HTTPValidationError>;
