import type {
  ErrorTaxonomyFindingsQuery,
  ErrorTaxonomyFindingsResponse,
  ErrorTaxonomyRevision,
  ErrorTaxonomyRevisionCreateRequest,
  ErrorTaxonomyRevisionCreateResponse,
  ErrorTaxonomyRevisionListQuery,
  ErrorTaxonomyRevisionListResponse,
  RecentErrorFindingsResponse,
} from "@presage/contract";
import type { CallOptions, WriteOptions } from "../call.ts";
import { callsOf, pathsUnder } from "../resource.ts";
import type { Transport } from "../transport.ts";

/** Selects revisions; all given filters must match. */
export interface ErrorTaxonomyFilter
  extends Pick<ErrorTaxonomyRevisionListQuery, "error_taxonomy_id" | "name" | "label"> {
  /** Only the highest revision of each taxonomy. */
  latest_revision_only?: boolean | undefined;
  /** 1 to 1,000. Default: 50. */
  limit?: number | undefined;
  offset?: number | undefined;
}

/** Trees of kinds of error, in revisions. */
export interface ErrorTaxonomies {
  /** Lists revisions, newest first: `GET /v1/error-taxonomy-revision`. Pages over 64 MB are refused with 413: lower `limit`. */
  list(filter?: ErrorTaxonomyFilter, options?: CallOptions): Promise<ErrorTaxonomyRevision[]>;
  /** Gets one revision: `GET /v1/error-taxonomy-revision/{id}`. */
  get(revisionId: string, options?: CallOptions): Promise<ErrorTaxonomyRevision>;
  /** Counts how often evaluations found each kind of error: `GET /v1/error-taxonomy-revision/{id}/findings`. */
  findings(
    revisionId: string,
    period?: ErrorTaxonomyFindingsQuery,
    options?: CallOptions,
  ): Promise<ErrorTaxonomyFindingsResponse>;
  /** Gets what the newest evaluations against a revision found, by model, with examples: `GET …/{id}/recent-findings`. */
  recentFindings(revisionId: string, options?: CallOptions): Promise<RecentErrorFindingsResponse>;
  /** Creates a revision, and its taxonomy if there is none of that name: `POST /v1/error-taxonomy-revision`. */
  create(request: ErrorTaxonomyRevisionCreateRequest, options?: WriteOptions): Promise<ErrorTaxonomyRevision>;
  /** Sets labels; a label of another revision of the taxonomy moves to this one: `POST …/{id}/set-labels`. */
  setLabels(
    revisionId: string,
    labels: readonly string[],
    options?: CallOptions,
  ): Promise<ErrorTaxonomyRevision>;
  /** Removes labels; labels that the revision lacks are ignored: `POST …/{id}/remove-labels`. */
  removeLabels(
    revisionId: string,
    labels: readonly string[],
    options?: CallOptions,
  ): Promise<ErrorTaxonomyRevision>;
}

const path = "/v1/error-taxonomy-revision";
const pathOf = pathsUnder(path);

export function errorTaxonomies(transport: Transport): ErrorTaxonomies {
  const { get, create, repeatable } = callsOf(transport);
  return {
    list: async (filter, options) =>
      (await get<ErrorTaxonomyRevisionListResponse>(path, options, filter)).data,
    get: (revisionId, options) => get(pathOf(revisionId), options),
    recentFindings: (revisionId, options) => get(pathOf(revisionId, "/recent-findings"), options),
    findings: (revisionId, period, options) => get(pathOf(revisionId, "/findings"), options, period),
    create: async (body, options) =>
      (await create<ErrorTaxonomyRevisionCreateResponse>(path, body, options)).error_taxonomy_revision,
    setLabels: (revisionId, labels, options) =>
      repeatable("POST", pathOf(revisionId, "/set-labels"), options, { labels }),
    removeLabels: (revisionId, labels, options) =>
      repeatable("POST", pathOf(revisionId, "/remove-labels"), options, { labels }),
  };
}
