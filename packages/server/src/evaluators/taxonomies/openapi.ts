import {
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
  RecentErrorFindingsResponse,
} from "@presage/contract";
import type { ZodOpenApiPathsObject } from "zod-openapi";
import {
  body,
  errorResponse,
  idempotencyHeader,
  noSuch,
  operation,
  pageTooLarge,
  response,
} from "../../http/describe.ts";

const tag = "error taxonomies";
const exampleRevision: ErrorTaxonomyRevision = {
  id: "01a2015d-187e-70b0-965c-8be5fb52bf57",
  error_taxonomy_id: "01a2015d-187d-7136-a0f0-0e7dccc24d02",
  error_taxonomy_name: "rooms",
  error_taxonomy_description: "Mistakes about rooms and doors.",
  revision: 1,
  body: {
    categories: [
      {
        name: "doors",
        errors: [{ name: "opened by itself", description: "A door that no one touched is open." }],
      },
    ],
  },
  metadata: null,
  labels: ["draft"],
  account_id: "01a2015d-17ca-76a6-84a3-fcf32365f7d8",
  created_at: "2026-11-22T03:46:48.062Z",
};
const revision = { "200": response("The revision", ErrorTaxonomyRevision, exampleRevision) };
const revisionNotFound = noSuch("revision", "revision of an error taxonomy");
const builtIn = {
  "409": errorResponse(
    "The revision is built-in and cannot be changed",
    "A built-in error taxonomy cannot be changed.",
  ),
};
const requestParams = { path: ErrorTaxonomyRevisionPath };

export const errorTaxonomyPaths: ZodOpenApiPathsObject = {
  "/v1/error-taxonomy-revision": {
    get: operation("listErrorTaxonomyRevisions", tag, "List revisions", {
      description: "Lists the revisions of the account's taxonomies and of the built-in ones.",
      requestParams: { query: ErrorTaxonomyRevisionListQuery },
      responses: {
        "200": response("The revisions, newest first", ErrorTaxonomyRevisionListResponse, {
          data: [exampleRevision],
        }),
        ...pageTooLarge,
      },
    }),
    post: operation("createErrorTaxonomyRevision", tag, "Create a revision, and its taxonomy if it is new", {
      description:
        "Adds a revision to a taxonomy, which is named by id or by name. If no taxonomy has this name, it is created. Profiles of the family `error-taxonomy` refer to a taxonomy by name and to a revision by label.",
      requestParams: { header: idempotencyHeader },
      requestBody: body(ErrorTaxonomyRevisionCreateRequest, {
        error_taxonomy_name: exampleRevision.error_taxonomy_name,
        error_taxonomy_description: exampleRevision.error_taxonomy_description,
        body: exampleRevision.body,
        labels: exampleRevision.labels,
      }),
      responses: {
        "201": response("The new revision", ErrorTaxonomyRevisionCreateResponse, {
          error_taxonomy_revision: exampleRevision,
        }),
        "404": errorResponse("The account has no taxonomy with this id", "There is no such error taxonomy."),
        "409": errorResponse(
          "The account already has a taxonomy of this name, or the name begins with `system:`, which is reserved for built-in taxonomies",
          "An error taxonomy of this name already exists.",
        ),
      },
    }),
  },
  "/v1/error-taxonomy-revision/{revision_id}": {
    get: operation("getErrorTaxonomyRevision", tag, "Show a revision", {
      description: "Shows a revision of one of the account's taxonomies, or of a built-in one.",
      requestParams,
      responses: { ...revision, ...revisionNotFound },
    }),
  },
  "/v1/error-taxonomy-revision/{revision_id}/findings": {
    get: operation("listErrorTaxonomyFindings", tag, "Count the errors that evaluations found", {
      description:
        "Counts how many evaluations used the revision, and how often they found each of its errors, by whole UTC days. Corrections do not change these counts.",
      requestParams: { ...requestParams, query: ErrorTaxonomyFindingsQuery },
      responses: {
        "200": response("The errors that the account's evaluations found", ErrorTaxonomyFindingsResponse, {
          evaluated: 120,
          findings: [{ path: ["doors", "opened by itself"], count: 7, last_found_on: "2026-11-22" }],
        }),
        ...revisionNotFound,
      },
    }),
  },
  "/v1/error-taxonomy-revision/{revision_id}/recent-findings": {
    get: operation("listRecentErrorFindings", tag, "Show what the newest evaluations found", {
      description:
        "Looks at the account's newest 2,000 verdicts of error taxonomies: what those of the revision found, by model and by run, with examples of each error.",
      requestParams,
      responses: {
        "200": response("The errors that the newest evaluations found", RecentErrorFindingsResponse, {
          considered: 480,
          evaluated: 120,
          models: [
            {
              model: "world-model-7b",
              evaluated: 120,
              findings: [{ path: ["doors", "opened by itself"], count: 7 }],
            },
          ],
          runs: [
            {
              evaluation_run_id: "nightly-12",
              name: null,
              evaluated: 120,
              findings: [{ path: ["doors", "opened by itself"], count: 7 }],
            },
          ],
          examples: [
            {
              path: ["doors", "opened by itself"],
              results: [
                {
                  id: "412",
                  created_at: "2026-11-22T03:46:48.062Z",
                  model: "world-model-7b",
                  reason: "Nobody touched the cellar door, and it stands open.",
                },
              ],
            },
          ],
        }),
        ...revisionNotFound,
      },
    }),
  },
  "/v1/error-taxonomy-revision/{revision_id}/set-labels": {
    post: operation("setErrorTaxonomyLabels", tag, "Set labels on a revision", {
      description:
        "Sets labels, which move here if another revision of the taxonomy has them. Other labels stay.",
      requestParams,
      requestBody: body(ErrorTaxonomySetLabelsRequest, { labels: ["production"] }),
      responses: { ...revision, ...revisionNotFound, ...builtIn },
    }),
  },
  "/v1/error-taxonomy-revision/{revision_id}/remove-labels": {
    post: operation("removeErrorTaxonomyLabels", tag, "Remove labels from a revision", {
      description: "Removes labels. Labels that the revision does not have are ignored.",
      requestParams,
      requestBody: body(ErrorTaxonomyRemoveLabelsRequest, { labels: ["draft"] }),
      responses: { ...revision, ...revisionNotFound, ...builtIn },
    }),
  },
};
