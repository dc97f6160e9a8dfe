import {
  defaultRevisionLimit,
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
  isTrueWord,
  RecentErrorFindingsResponse,
  readInstant,
} from "@presage/contract";
import type { ZodOpenApiPathsObject } from "zod-openapi";
import type { Services } from "../../app/services.ts";
import { type CallWithCaller, requesterOf } from "../../http/call.ts";
import {
  body,
  errorResponse,
  idempotencyHeader,
  noSuch,
  operation,
  pageTooLarge,
  response,
} from "../../http/describe.ts";
import {
  parseJson,
  readBody,
  readExactBody,
  readOnce,
  readPage,
  readPath,
  readQuery,
} from "../../http/request.ts";
import { streamList, toIsoDay } from "../../http/response.ts";
import { type Route, withCaller } from "../../http/route.ts";
import { InvalidRequestError, missing } from "../../http/validate.ts";
import { ServiceError } from "../../platform/errors.ts";
import { toIsoInstant } from "../../platform/storage/columns.ts";
import {
  type ErrorFindings,
  findErrorFindings,
  findRecentFindings,
  type RecentFindings,
} from "../../results/error-findings.ts";
import {
  createRevision,
  findRevision,
  listRevisions,
  type NewRevision,
  removeLabels,
  setLabels,
} from "./taxonomies.ts";
import type { TaxonomyRevision, TaxonomyRevisionFilter } from "./taxonomies-store.ts";

const path = "/v1/error-taxonomy-revision";

export function errorTaxonomyRoutes(services: Services): Route[] {
  const maxBodyBytes = services.settings.maxShortBodyBytes;
  return [
    withCaller("GET", path, "read", async (call) => {
      const query = readQuery(call, ErrorTaxonomyRevisionListQuery);
      const revisions = await listRevisions(services.evaluation, requesterOf(call), toFilter(query));
      const name: keyof ErrorTaxonomyRevisionListResponse = "data";
      return await streamList(services, call, name, revisions, toJson);
    }),
    withCaller("POST", path, "evaluate", async (call) => {
      const body = await readExactBody(call, ErrorTaxonomyRevisionCreateRequest, maxBodyBytes);
      const newRevision = toNewRevision(body);
      const once = readOnce(call, "create error taxonomy revision", body);
      const revision = await createRevision(services.evaluation, requesterOf(call), newRevision, once);
      const response = { error_taxonomy_revision: toResponse(revision) };
      return Response.json(response satisfies ErrorTaxonomyRevisionCreateResponse, { status: 201 });
    }),
    withCaller("GET", `${path}/:revision_id`, "read", async (call) => {
      const revision = await findRevision(services.store.database, call.caller.accountId, revisionIdOf(call));
      return Response.json(toResponse(revision));
    }),
    withCaller("GET", `${path}/:revision_id/findings`, "read", async (call) => {
      const { since, until } = readQuery(call, ErrorTaxonomyFindingsQuery);
      const period = {
        since: since === undefined ? undefined : readInstant(since),
        until: until === undefined ? undefined : readInstant(until),
      };
      const found = await findErrorFindings(
        services.evaluation,
        requesterOf(call),
        revisionIdOf(call),
        period,
      );
      return Response.json(toFindingsResponse(found));
    }),
    withCaller("GET", `${path}/:revision_id/recent-findings`, "read", async (call) => {
      const found = await findRecentFindings(services.evaluation, requesterOf(call), revisionIdOf(call));
      return Response.json(toRecentFindingsResponse(found));
    }),
    withCaller("POST", `${path}/:revision_id/set-labels`, "evaluate", (call) =>
      changeLabels(call, ErrorTaxonomySetLabelsRequest, setLabels),
    ),
    withCaller("POST", `${path}/:revision_id/remove-labels`, "evaluate", (call) =>
      changeLabels(call, ErrorTaxonomyRemoveLabelsRequest, removeLabels),
    ),
  ];

  async function changeLabels(
    call: CallWithCaller,
    schema: typeof ErrorTaxonomyRemoveLabelsRequest,
    change: typeof setLabels,
  ): Promise<Response> {
    const revisionId = revisionIdOf(call);
    const { account_id, labels } = await readBody(call, schema, maxBodyBytes);
    const { accountId } = call.caller;
    if ((account_id ?? accountId).toLowerCase() !== accountId) {
      throw new ServiceError("not_found", "There is no such account.");
    }
    return Response.json(
      toResponse(await change(services.evaluation, requesterOf(call), revisionId, labels)),
    );
  }
}

function revisionIdOf(call: CallWithCaller): string {
  return readPath(call, ErrorTaxonomyRevisionPath).revision_id.toLowerCase();
}

function toFilter(query: ErrorTaxonomyRevisionListQuery): TaxonomyRevisionFilter {
  return {
    taxonomyId: query.error_taxonomy_id?.toLowerCase(),
    taxonomyName: query.name,
    label: query.label,
    isLatestOnly: isTrueWord(query.latest_revision_only ?? "false"),
    ...readPage(query, defaultRevisionLimit),
  };
}

function toNewRevision(request: ErrorTaxonomyRevisionCreateRequest): NewRevision {
  return {
    taxonomy: taxonomyOf(request),
    description: request.error_taxonomy_description ?? undefined,
    body: request.body,
    metadata: request.metadata ?? undefined,
    labels: request.labels ?? [],
  };
}

/** Requires a taxonomy, under either of two names, which the schema cannot express. */
function taxonomyOf(request: ErrorTaxonomyRevisionCreateRequest): NewRevision["taxonomy"] {
  const { error_taxonomy_id: id, error_taxonomy_name: name, create_only_if_not_exists } = request;
  if (typeof id === "string") return { id: id.toLowerCase() };
  if (typeof name === "string") return { name, isNewOnly: create_only_if_not_exists ?? false };
  throw new InvalidRequestError([missing(["body", "error_taxonomy_name"], request)]);
}

function toResponse({ body, metadata, created_at, ...rest }: TaxonomyRevision): ErrorTaxonomyRevision {
  return {
    ...rest,
    // Both were checked before they were stored.
    body: parseJson(body) as ErrorTaxonomyRevision["body"],
    metadata: metadata === null ? null : (parseJson(metadata) as ErrorTaxonomyRevision["metadata"]),
    created_at: toIsoInstant(created_at),
  };
}

/** The same as JSON. The long fields are stored as JSON and are neither parsed nor written again. */
function toJson(revision: TaxonomyRevision): string {
  const {
    body: _body,
    metadata: _metadata,
    ...rest
  } = toResponse({ ...revision, body: "[]", metadata: null });
  const metadata = revision.metadata ?? "null";
  return `${JSON.stringify(rest).slice(0, -1)},"body":${revision.body},"metadata":${metadata}}`;
}

function toFindingsResponse({ evaluated, findings }: ErrorFindings): ErrorTaxonomyFindingsResponse {
  return {
    evaluated,
    findings: findings.map(({ path, count, lastDay }) => ({ path, count, last_found_on: toIsoDay(lastDay) })),
  };
}

function toRecentFindingsResponse({
  examples,
  models,
  runs,
  ...counts
}: RecentFindings): RecentErrorFindingsResponse {
  return {
    ...counts,
    models: models.map(({ model, ...rest }) => ({ ...rest, model: model ?? null })),
    runs: runs.map(({ runId, name, ...rest }) => ({
      ...rest,
      evaluation_run_id: runId ?? null,
      name: name ?? null,
    })),
    examples: examples.map(({ path, results }) => ({
      path,
      results: results.map(({ id, createdAt, model, reason }) => ({
        id: String(id),
        created_at: toIsoInstant(createdAt),
        model: model ?? null,
        reason: reason ?? null,
      })),
    })),
  };
}

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
