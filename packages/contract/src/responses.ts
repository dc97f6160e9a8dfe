import { z } from "zod";

/**
 * Why a request failed, one category for each thing that a caller can do about it. `unusable_completion`: the model answered, but with
 * nothing that could be the next state.
 */
export const ErrorCategory = z.enum([
  "context_exceeded",
  "rate_limit",
  "upstream",
  "unusable_completion",
  "unavailable",
  "timeout",
]);
export type ErrorCategory = z.infer<typeof ErrorCategory>;

/** An error as OpenAI's clients read it. */
export const OpenAiError = z
  .object({
    message: z.string().meta({ description: "What went wrong: `detail`, or the issues of a 422 in words." }),
    type: z
      .enum(["invalid_request_error", "rate_limit_error", "server_error"])
      .meta({ description: "Whether the request, its rate or the server is the cause." }),
    param: z.string().nullable().meta({
      description: "For a 422, the field with the first issue, such as `messages[0].role`.",
    }),
    code: z.string().meta({
      description:
        "Identifies the kind of error, such as `context_length_exceeded`, `rate_limit_exceeded`, `invalid_api_key` or `upstream_error`.",
    }),
    category: ErrorCategory.nullable().meta({ description: "The same as next to `detail`." }),
    upstream_status: z.int().nullable().meta({ description: "The same as next to `detail`." }),
  })
  .meta({ id: "OpenAiError" });
export type OpenAiError = z.infer<typeof OpenAiError>;

const error = OpenAiError.optional().meta({
  description:
    "The same error as OpenAI's clients read it: on `/v1/chat/completions` and `/v1/models`, and for unknown paths.",
});

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
        description: `One of ${ErrorCategory.options.join(", ")}, if one applies, or, for a 409, \`reality_alarm\` if the environment refuses new episodes because its successes are false too often, or \`examples_gone\` if the dataset of the world's examples was deleted. A 413 from Presage itself has none.`,
      }),
    error,
  })
  .meta({ id: "ErrorResponse" });
export type ErrorResponse = z.infer<typeof ErrorResponse>;

/** One validation issue of a request, as pydantic words it. */
export const ValidationError = z
  .object({
    loc: z
      .array(z.union([z.string(), z.int()]))
      .meta({ description: "Where: body, path or query, then the path to the field." }),
    msg: z.string().meta({ description: "What is wrong, as a sentence." }),
    type: z.string().meta({ description: "The kind of issue, for programs: one of pydantic's error types." }),
    input: z.unknown().optional().meta({ description: "The value that is not valid." }),
    ctx: z
      .record(z.string(), z.unknown())
      .optional()
      .meta({ description: "What the message refers to, for example a limit." }),
  })
  .meta({ id: "ValidationError" });
export type ValidationError = z.infer<typeof ValidationError>;

/** The validation issues of a request: the body of a 422 response. */
export const HTTPValidationError = z
  .object({
    detail: z.array(ValidationError).meta({ description: "The first 100 issues." }),
    error,
  })
  .meta({ id: "HTTPValidationError" });
export type HTTPValidationError = z.infer<typeof HTTPValidationError>;

/** Response of `GET /health` and `GET /ready`. */
export const HealthResponse = z
  .object({ status: z.string().meta({ description: "ok, ready, starting or stopping." }) })
  .meta({ id: "HealthResponse" });

/** An interval of a report or a comparison. */
export function intervalOf(description: string, end = z.number()) {
  return z
    .object({
      level: z.number().meta({ description: "Confidence level, for example 0.95." }),
      lower: end.meta({ description: "Lower end." }),
      upper: end.meta({ description: "Upper end." }),
    })
    .nullable()
    .meta({ description });
}
