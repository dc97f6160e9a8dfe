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
import { type CallOptions, underOneKey, type WriteOptions } from "../call.ts";
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
  /** Sets labels; a label that another revision of the taxonomy has moves: `POST …/{id}/set-labels`. */
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

export function errorTaxonomies({ json }: Transport): ErrorTaxonomies {
  const pathOf = (revisionId: string) => `${path}/${encodeURIComponent(revisionId)}`;

  function postLabels(path: string, labels: readonly string[], options: CallOptions | undefined) {
    const call = { method: "POST", path, body: { labels }, isRepeatable: true } as const;
    return json<ErrorTaxonomyRevision>(call, options);
  }

  return {
    async list(filter, options) {
      const call = { method: "GET", path, query: { ...filter } } as const;
      return (await json<ErrorTaxonomyRevisionListResponse>(call, options)).data;
    },
    get: (revisionId, options) => json({ method: "GET", path: pathOf(revisionId) }, options),
    recentFindings: (revisionId, options) =>
      json({ method: "GET", path: `${pathOf(revisionId)}/recent-findings` }, options),
    findings: (revisionId, period, options) =>
      json({ method: "GET", path: `${pathOf(revisionId)}/findings`, query: { ...period } }, options),
    async create(body, options) {
      const call = { method: "POST", path, body, ...underOneKey(options) } as const;
      return (await json<ErrorTaxonomyRevisionCreateResponse>(call, options)).error_taxonomy_revision;
    },
    setLabels: (revisionId, labels, options) =>
      postLabels(`${pathOf(revisionId)}/set-labels`, labels, options),
    removeLabels: (revisionId, labels, options) =>
      postLabels(`${pathOf(revisionId)}/remove-labels`, labels, options),
  };
}
