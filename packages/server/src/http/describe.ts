import { ErrorResponse, HTTPValidationError } from "@presage/contract";
import { z } from "zod";
import type {
  ZodOpenApiOperationObject,
  ZodOpenApiPathsObject,
  ZodOpenApiResponsesObject,
} from "zod-openapi";
import type { Described, TaggedOperation } from "./route.ts";

/** JSON of this shape, and an example of it. A test checks that all examples have the shape of their schemas. */
function json<Schema extends z.ZodType>(schema: Schema, example: unknown) {
  return { "application/json": { schema, example } };
}

/** A response with a JSON body of this shape. */
export function response<Schema extends z.ZodType>(description: string, schema: Schema, example: unknown) {
  return { description, content: json(schema, example) };
}

/** The response to a request that failed. `detail` is an example of its message. */
export function errorResponse(description: string, detail: string, more: Partial<ErrorResponse> = {}) {
  return response(description, ErrorResponse, { detail, ...more });
}

/** A required request body of this shape. The example can be sent as it is. */
export function body<Schema extends z.ZodType>(schema: Schema, example: unknown) {
  return { required: true, content: json(schema, example) };
}

/** The header of operations that create something. */
export const idempotencyHeader = z.object({
  "Idempotency-Key": z
    .string()
    .regex(/^[!-~]{1,200}$/)
    .optional()
    .meta({
      description:
        "Identifies the request, so that it can be retried safely. If the same user repeats the request within a day, it gets the same response and nothing is done twice. A different request with the same key is refused with 422. Failed requests can be retried.",
    }),
});

/** The beginning of a list, as an example. */
export function page<Item>(...data: Item[]) {
  return { data, next: null };
}

/** The response if the account has nothing of this kind with the requested id. */
export function noSuch(what: string, nameInDetail = what) {
  return { "404": errorResponse(`The account has no such ${what}`, `There is no such ${nameInDetail}.`) };
}

export const unauthorized = {
  "401": errorResponse(
    "The key or session is missing, unknown, expired, revoked or ended",
    "Authentication required: send an API key or sign in.",
  ),
};
const invalidRequest = {
  "422": response("The request is not valid; up to 100 issues are listed", HTTPValidationError, {
    detail: [{ type: "missing", loc: ["body", "name"], msg: "Field required", input: {} }],
  }),
};
const tooLarge = {
  "413": errorResponse("The request body is too large", "The request body is larger than 1048576 bytes."),
};
export const pageTooLarge = {
  "413": errorResponse(
    "The page is larger than 64 MB; use a lower limit",
    "The 1000 revisions of this page have 70.1 MB of text; the limit is 64 MB. Use a lower limit.",
  ),
};

/** The response to a request that would exceed a budget. */
export const budgetSpent = {
  "402": errorResponse(
    "The monthly budget of the account or the key is spent, and it is one that stops",
    "The monthly budget of this account is spent: 500.12 USD of 500 USD. Requests that ask a model are refused until 2026-12-01T00:00:00.000Z, when the next month begins, or until an owner of the account raises the budget.",
  ),
};

/** The header that tells clients not to retry by themselves. */
export function shouldRetryHeader(description: string) {
  return { "x-should-retry": { description, schema: { type: "string" as const, enum: ["false"] } } };
}

export const unavailable = {
  "503": {
    ...errorResponse(
      "The database is unavailable or the server is out of memory for this request, and nothing was changed; or the database did not confirm a change, which may or may not have been made",
      "The database is unavailable. Try again in a few seconds.",
      { category: "unavailable" },
    ),
    headers: {
      "Retry-After": {
        description: "Seconds until the request can be retried. Absent if a change was not confirmed.",
        schema: { type: "integer" },
      },
      ...shouldRetryHeader(
        "`false` if a change was not confirmed: without an `Idempotency-Key`, a retry may make it twice.",
      ),
    },
  },
} satisfies ZodOpenApiResponsesObject;

/** The paths of the document, from the operations that are served. */
export function pathsOf(
  operations: readonly Pick<TaggedOperation<never>, "tag" | "declaration">[],
): ZodOpenApiPathsObject {
  const paths: Record<string, Record<string, ZodOpenApiOperationObject>> = {};
  for (const { tag, declaration } of operations) {
    if (declaration.hidden) continue;
    const path = (declaration.describedPath ?? declaration.path).replace(/:(\w+)/g, "{$1}");
    const ofPath = paths[path] ?? {};
    ofPath[declaration.method.toLowerCase()] = describe(tag, declaration);
    paths[path] = ofPath;
  }
  return paths;
}

function describe(tag: string, declaration: Described): ZodOpenApiOperationObject {
  const { id, summary, description, responses, hasOldNames, hasOwnFailures, more } = declaration;
  const requestParams = paramsOf(declaration);
  const requestBody = more?.requestBody ?? bodyOf(declaration);
  const hasParams = requestParams !== undefined || more?.requestParams !== undefined;
  const common = hasOwnFailures ? {} : commonFailures(hasParams, requestBody !== undefined);
  const all = { ...common, ...responses };
  const described = hasOldNames ? withDeprecation(all) : all;
  return {
    operationId: id,
    tags: [tag],
    summary,
    description,
    ...(requestParams && { requestParams }),
    ...(requestBody && { requestBody }),
    ...more,
    responses: { ...described, ...forbidden(declaration) },
  };
}

function paramsOf({ params, query, once }: Described): ZodOpenApiOperationObject["requestParams"] {
  if (params === undefined && query === undefined && once === undefined) return undefined;
  return {
    ...(params && { path: params }),
    ...(query && { query: marked(query) }),
    ...(once !== undefined && { header: idempotencyHeader }),
  };
}

/** Marks the parameters of deprecated fields as deprecated too, because tools look there. */
function marked(schema: z.ZodObject): z.ZodObject {
  const metas = Object.entries(schema.shape).map(
    ([name, field]) => [name, field, z.globalRegistry.get(field)] as const,
  );
  if (!metas.some(([, , meta]) => meta?.deprecated)) return schema;
  const fields = metas.map(([name, field, meta]) => [
    name,
    meta?.deprecated ? z.optional(field).meta({ ...meta, param: { deprecated: true } }) : field,
  ]);
  return z.object(Object.fromEntries(fields));
}

function bodyOf({ body: schema, bodyExample, bodyIsOptional = false }: Described) {
  if (schema === undefined) return undefined;
  return { required: !bodyIsOptional, content: json(schema, bodyExample) };
}

/** The 403 for a caller whose role or key forbids the operation and, if it changes something, for a session without its page's token. */
function forbidden({ method, needs }: Described): ZodOpenApiResponsesObject {
  if (method === "GET" && needs === "nothing") return {};
  const why = "The role of the user or the scopes of the key do not allow it";
  return {
    "403": errorResponse(
      method === "GET"
        ? why
        : `${why}, or the request uses a session, and its X-CSRF-Token is missing or invalid`,
      'This API key does not have the scope "evaluate"; it has "predict", "read". Use a key with that scope.',
    ),
  };
}

type Open = Omit<ZodOpenApiOperationObject, "operationId" | "tags" | "summary" | "security"> & {
  /** What the operation does, in one to four sentences. */
  description: string;
};

/** A probe: it needs no authentication, and fails only as `responses` says; `summary` is its title. */
export function openOperation(operationId: string, summary: string, rest: Open): ZodOpenApiOperationObject {
  return { operationId, tags: ["probes"], summary, ...rest, security: [] };
}

/** The failures of an operation with a key or session, depending on what it reads. */
function commonFailures(hasParams: boolean, hasBody: boolean): ZodOpenApiResponsesObject {
  return {
    ...unauthorized,
    ...unavailable,
    ...((hasParams || hasBody) && invalidRequest),
    ...(hasBody && tooLarge),
  };
}

/** Responses to requests that may use old names. All of them have the header, except 401. */
function withDeprecation({ "401": unauthorizedResponse, ...responses }: ZodOpenApiResponsesObject) {
  const Deprecation = {
    description: "Since when a name in the request has been deprecated (RFC 9745). Absent if it uses none.",
    schema: { type: "string", pattern: "^@\\d+$" },
  } as const;
  const described = Object.entries(responses).map(([status, response]) => [
    status,
    { ...response, headers: { ...response.headers, Deprecation } },
  ]);
  return { ...Object.fromEntries(described), "401": unauthorizedResponse } as ZodOpenApiResponsesObject;
}
