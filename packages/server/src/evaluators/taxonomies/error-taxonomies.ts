import {
  defaultRevisionLimit,
  ErrorTaxonomyFindingsQuery,
  type ErrorTaxonomyFindingsResponse,
  ErrorTaxonomyRemoveLabelsRequest,
  type ErrorTaxonomyRevision,
  ErrorTaxonomyRevisionCreateRequest,
  type ErrorTaxonomyRevisionCreateResponse,
  ErrorTaxonomyRevisionListQuery,
  type ErrorTaxonomyRevisionListResponse,
  ErrorTaxonomyRevisionPath,
  ErrorTaxonomySetLabelsRequest,
  isTrueWord,
  type RecentErrorFindingsResponse,
  readInstant,
} from "@presage/contract";
import type { Services } from "../../app/services.ts";
import { missing } from "../../http/pydantic-issues.ts";
import { parseJson } from "../../http/read-json.ts";
import { readPage } from "../../http/read-page.ts";
import { readBody, readExactBody, readOnce, readPath, readQuery } from "../../http/read-request.ts";
import { requesterOf } from "../../http/requester-of.ts";
import { type CallWithCaller, type Route, withCaller } from "../../http/route.ts";
import { streamList } from "../../http/stream-list.ts";
import { toIsoDay } from "../../http/to-iso-day.ts";
import { InvalidRequestError } from "../../http/validate.ts";
import { ServiceError } from "../../platform/errors.ts";
import { toIsoInstant } from "../../platform/storage/micros.ts";
import { type ErrorFindings, findErrorFindings } from "../../results/find-error-findings.ts";
import { findRecentFindings, type RecentFindings } from "../../results/find-recent-findings.ts";
import { removeLabels, setLabels } from "./change-labels.ts";
import { createRevision, type NewRevision } from "./create-revision.ts";
import type { TaxonomyRevision, TaxonomyRevisionFilter } from "./error-taxonomies-store.ts";
import { findRevision } from "./find-revision.ts";
import { listRevisions } from "./list-revisions.ts";

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
