import {
  ErrorResponse,
  ErrorTaxonomyFindingsQuery,
  ErrorTaxonomyFindingsResponse,
  ErrorTaxonomyRemoveLabelsRequest,
  ErrorTaxonomyRevision,
  ErrorTaxonomyRevisionCreateRequest,
  ErrorTaxonomyRevisionCreateResponse,
  ErrorTaxonomyRevisionListQuery,
  ErrorTaxonomyRevisionListResponse,
  ErrorTaxonomyRevisionPath,
  ErrorTaxonomySetLabelsRequest,
} from "@presage/contract";
import type { ZodOpenApiPathsObject } from "zod-openapi";
import {
  body,
  failures,
  idempotencyHeader,
  operation,
  pageTooLarge,
  response,
  tooLarge,
} from "../docs/describe.ts";

const tag = "error taxonomies";
const revision = { "200": response("The revision", ErrorTaxonomyRevision) };
const revisionNotFound = { "404": response("The account has no such revision", ErrorResponse) };
const builtIn = { "409": response("The revision is built-in and cannot be changed", ErrorResponse) };
const requestParams = { path: ErrorTaxonomyRevisionPath };

export const errorTaxonomyPaths: ZodOpenApiPathsObject = {
  "/v1/error-taxonomy-revision": {
    get: operation("listErrorTaxonomyRevisions", tag, "List revisions", {
      requestParams: { query: ErrorTaxonomyRevisionListQuery },
      responses: {
        "200": response("The revisions, newest first", ErrorTaxonomyRevisionListResponse),
        ...pageTooLarge,
        ...failures,
      },
    }),
    post: operation("createErrorTaxonomyRevision", tag, "Create a revision, and its taxonomy if it is new", {
      requestParams: { header: idempotencyHeader },
      requestBody: body(ErrorTaxonomyRevisionCreateRequest),
      responses: {
        "201": response("The new revision", ErrorTaxonomyRevisionCreateResponse),
        "404": response("The account has no taxonomy with this id", ErrorResponse),
        "409": response(
          "The account already has a taxonomy of this name, or the name begins with `system:`, which is reserved for built-in taxonomies",
          ErrorResponse,
        ),
        ...failures,
        ...tooLarge,
      },
    }),
  },
  "/v1/error-taxonomy-revision/{revision_id}": {
    get: operation("getErrorTaxonomyRevision", tag, "Show a revision", {
      requestParams,
      responses: { ...revision, ...revisionNotFound, ...failures },
    }),
  },
  "/v1/error-taxonomy-revision/{revision_id}/findings": {
    get: operation("listErrorTaxonomyFindings", tag, "Count the errors that evaluations found", {
      requestParams: { ...requestParams, query: ErrorTaxonomyFindingsQuery },
      responses: {
        "200": response("The errors that the account's evaluations found", ErrorTaxonomyFindingsResponse),
        ...revisionNotFound,
        ...failures,
      },
    }),
  },
  "/v1/error-taxonomy-revision/{revision_id}/set-labels": {
    post: operation("setErrorTaxonomyLabels", tag, "Set labels on a revision", {
      requestParams,
      requestBody: body(ErrorTaxonomySetLabelsRequest),
      responses: { ...revision, ...revisionNotFound, ...builtIn, ...failures, ...tooLarge },
    }),
  },
  "/v1/error-taxonomy-revision/{revision_id}/remove-labels": {
    post: operation("removeErrorTaxonomyLabels", tag, "Remove labels from a revision", {
      requestParams,
      requestBody: body(ErrorTaxonomyRemoveLabelsRequest),
      responses: { ...revision, ...revisionNotFound, ...builtIn, ...failures, ...tooLarge },
    }),
  },
};
