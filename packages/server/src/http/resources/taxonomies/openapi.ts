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
  answer,
  body,
  notValid,
  onceHeader,
  operation,
  pageTooLarge,
  storeUnavailable,
  tooLarge,
  unauthenticated,
} from "../docs/describe.ts";

const tag = "error taxonomies";
const revision = { "200": answer("The revision as it now is", ErrorTaxonomyRevision) };
const failures = { ...unauthenticated, ...notValid, ...storeUnavailable };
const noRevision = { "404": answer("The account has no such revision", ErrorResponse) };
const builtIn = { "409": answer("The revision comes with Presage and cannot be changed", ErrorResponse) };
const requestParams = { path: ErrorTaxonomyRevisionPath };

export const errorTaxonomyPaths: ZodOpenApiPathsObject = {
  "/v1/error-taxonomy-revision": {
    get: operation("listErrorTaxonomyRevisions", tag, "List revisions", {
      requestParams: { query: ErrorTaxonomyRevisionListQuery },
      responses: {
        "200": answer("The revisions, newest first", ErrorTaxonomyRevisionListResponse),
        ...pageTooLarge,
        ...failures,
      },
    }),
    post: operation("createErrorTaxonomyRevision", tag, "Create a revision, and its taxonomy if it is new", {
      requestParams: { header: onceHeader },
      requestBody: body(ErrorTaxonomyRevisionCreateRequest),
      responses: {
        "201": answer("The new revision", ErrorTaxonomyRevisionCreateResponse),
        "404": answer("The account has no taxonomy of this id", ErrorResponse),
        "409": answer(
          "The account already has a taxonomy of this name, or it comes with Presage, as all do whose names begin with `system:`",
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
      responses: { ...revision, ...noRevision, ...failures },
    }),
  },
  "/v1/error-taxonomy-revision/{revision_id}/findings": {
    get: operation("listErrorTaxonomyFindings", tag, "Count the errors that evaluations found", {
      requestParams: { ...requestParams, query: ErrorTaxonomyFindingsQuery },
      responses: {
        "200": answer("The account's own evaluations and what they found", ErrorTaxonomyFindingsResponse),
        ...noRevision,
        ...failures,
      },
    }),
  },
  "/v1/error-taxonomy-revision/{revision_id}/set-labels": {
    post: operation("setErrorTaxonomyLabels", tag, "Set labels on a revision", {
      requestParams,
      requestBody: body(ErrorTaxonomySetLabelsRequest),
      responses: { ...revision, ...noRevision, ...builtIn, ...failures, ...tooLarge },
    }),
  },
  "/v1/error-taxonomy-revision/{revision_id}/remove-labels": {
    post: operation("removeErrorTaxonomyLabels", tag, "Remove labels from a revision", {
      requestParams,
      requestBody: body(ErrorTaxonomyRemoveLabelsRequest),
      responses: { ...revision, ...noRevision, ...builtIn, ...failures, ...tooLarge },
    }),
  },
};
