import type {
  ErrorTaxonomyFindingsQuery,
  ErrorTaxonomyFindingsResponse,
  ErrorTaxonomyRevision,
  ErrorTaxonomyRevisionCreateRequest,
  ErrorTaxonomyRevisionCreateResponse,
  ErrorTaxonomyRevisionListQuery,
  ErrorTaxonomyRevisionListResponse,
} from "@presage/contract";
import type { CallOptions, WriteOptions } from "../call.ts";
import { underOneKey } from "../idempotency-key.ts";
import type { Transport } from "../transport.ts";

/** Which revisions to list: all given filters must match. */
export interface ErrorTaxonomyFilter
  extends Pick<ErrorTaxonomyRevisionListQuery, "error_taxonomy_id" | "name" | "label"> {
  /** Only the latest revision of each taxonomy. */
  latest_revision_only?: boolean | undefined;
  /** 1 to 1,000; 50 by default. */
  limit?: number | undefined;
  offset?: number | undefined;
}

export interface ErrorTaxonomies {
  /** Revisions, newest first: `GET /v1/error-taxonomy-revision`. A page of more than 64 MB is refused with 413: use a lower limit. */
  list(filter?: ErrorTaxonomyFilter, options?: CallOptions): Promise<ErrorTaxonomyRevision[]>;
  /** One revision: `GET /v1/error-taxonomy-revision/{id}`. */
  get(revisionId: string, options?: CallOptions): Promise<ErrorTaxonomyRevision>;
  /** How often evaluations found each kind of error: `GET /v1/error-taxonomy-revision/{id}/findings`. */
  findings(
    revisionId: string,
    period?: ErrorTaxonomyFindingsQuery,
    options?: CallOptions,
  ): Promise<ErrorTaxonomyFindingsResponse>;
  /** Creates a revision, and its taxonomy if there is none with that name: `POST /v1/error-taxonomy-revision`. */
  create(request: ErrorTaxonomyRevisionCreateRequest, options?: WriteOptions): Promise<ErrorTaxonomyRevision>;
  /** Adds labels, moving those that another revision of the taxonomy has: `POST …/{id}/set-labels`. */
  setLabels(
    revisionId: string,
    labels: readonly string[],
    options?: CallOptions,
  ): Promise<ErrorTaxonomyRevision>;
  /** Removes labels; those that the revision lacks are ignored: `POST …/{id}/remove-labels`. */
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
      const call = { method: "GET", path, query: { ...filter }, isRepeatable: true } as const;
      return (await json<ErrorTaxonomyRevisionListResponse>(call, options)).data;
    },
    get: (revisionId, options) =>
      json({ method: "GET", path: pathOf(revisionId), isRepeatable: true }, options),
    findings: (revisionId, period, options) =>
      json(
        { method: "GET", path: `${pathOf(revisionId)}/findings`, query: { ...period }, isRepeatable: true },
        options,
      ),
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
