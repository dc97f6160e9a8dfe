import { ErrorResponse, HTTPValidationError } from "@presage/contract";
import { z } from "zod";
import type {
  ZodOpenApiOperationObject,
  ZodOpenApiPathsObject,
  ZodOpenApiResponsesObject,
} from "zod-openapi";

const json = (schema: z.ZodType) => ({ "application/json": { schema } });

/** An answer whose body is JSON of this shape. */
export function answer(description: string, schema: z.ZodType) {
  return { description, content: json(schema) };
}

/** A request body of this shape, which must be there. */
export function body(schema: z.ZodType) {
  return { required: true, content: json(schema) };
}

/** A query whose parameters say of themselves that they are deprecated, as tools expect it, where their schemas do. */
export function query(schema: z.ZodObject): z.ZodObject {
  const fields = Object.entries(schema.shape).map(([name, field]) => {
    const meta = z.globalRegistry.get(field);
    return [
      name,
      meta?.deprecated ? z.optional(field).meta({ ...meta, param: { deprecated: true } }) : field,
    ];
  });
  return z.object(Object.fromEntries(fields));
}

/** An optional request body of this shape. */
export function optionalBody(schema: z.ZodType) {
  return { required: false, content: json(schema) };
}

/** The header of an operation that creates something. */
export const onceHeader = z.object({
  "Idempotency-Key": z
    .string()
    .regex(/^[!-~]{1,200}$/)
    .optional()
    .meta({
      description:
        "The caller's word for this request. Sent again under it within a day, by the same user and to the same operation, the request is answered as it was the first time and nothing is done twice. Another request under it is 422. What failed may be sent again.",
    }),
});

/** Answers to requests that may use old names: all that come after the key was found good say that they did. */
export function withDeprecation({ "401": refusal, ...responses }: ZodOpenApiResponsesObject) {
  const Deprecation = {
    description: "Since when a name that the request uses is deprecated (RFC 9745); absent if it uses none.",
    schema: { type: "string", pattern: "^@\\d+$" },
  } as const;
  const described = Object.entries(responses).map(([status, response]) => [
    status,
    { ...response, headers: { ...response.headers, Deprecation } },
  ]);
  return { ...Object.fromEntries(described), "401": refusal } as ZodOpenApiResponsesObject;
}

export const unauthenticated = {
  "401": answer("The key or the session is missing, unknown, expired, revoked or ended", ErrorResponse),
};
export const notValid = {
  "422": answer("The request is not valid; every fault is listed", HTTPValidationError),
};
export const tooLarge = { "413": answer("The request body is too large", ErrorResponse) };
export const pageTooLarge = {
  "413": answer("The page is larger than 64 MB; ask for fewer with limit", ErrorResponse),
};
export const storeUnavailable = {
  "503": {
    ...answer(
      "The store is not available or the server has no memory left for this, and nothing was changed; or it did not confirm a change, which may or may not have been kept",
      ErrorResponse,
    ),
    headers: {
      "Retry-After": {
        description: "Seconds after which to try again; absent if a change was not confirmed.",
        schema: { type: "integer" },
      },
      "x-should-retry": {
        description:
          "`false` if a change was not confirmed: sent again without an `Idempotency-Key`, it may be made twice.",
        schema: { type: "string", enum: ["false"] },
      },
    },
  },
} satisfies ZodOpenApiResponsesObject;

type Rest = Omit<ZodOpenApiOperationObject, "operationId" | "tags" | "summary">;

/** Adds what every changing operation that needs a caller answers to a session without its page's proof. */
export function withForbidden(paths: ZodOpenApiPathsObject): ZodOpenApiPathsObject {
  const forbidden = {
    "403": answer("A session asks, and its CSRF token, as X-CSRF-Token, is missing or wrong", ErrorResponse),
  };
  const described = Object.entries(paths).map(([path, { get, ...changing }]) => {
    const changed = Object.entries(changing).map(([method, described]) => [
      method,
      { ...described, responses: { ...described.responses, ...forbidden } },
    ]);
    return [path, { ...(get === undefined ? {} : { get }), ...Object.fromEntries(changed) }];
  });
  return Object.fromEntries(described);
}

/** An operation that needs a key or a session. */
export function operation(
  operationId: string,
  tag: string,
  summary: string,
  rest: Rest,
): ZodOpenApiOperationObject {
  return { operationId, tags: [tag], summary, ...rest };
}

/** An operation that anybody may call. */
export function openOperation(
  operationId: string,
  tag: string,
  summary: string,
  rest: Rest,
): ZodOpenApiOperationObject {
  return { ...operation(operationId, tag, summary, rest), security: [] };
}
