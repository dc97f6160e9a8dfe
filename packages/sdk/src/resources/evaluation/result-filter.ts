import type {
  EvaluationResultExportQuery,
  EvaluationResultFilter,
  EvaluationResultSearchRequest,
  EvaluationSummaryRequest,
  ReviewQueueRequest,
} from "@presage/contract";
import type { Query } from "../../call.ts";

interface IdBounds {
  /** Only results with a greater id. */
  after_id?: string | number | null | undefined;
  /** Only results with a smaller id. */
  before_id?: string | number | null | undefined;
}

type Bounded<Filter extends object> = Omit<Filter, keyof IdBounds> & IdBounds;

/** Selects results; all given filters must match. */
export type ResultFilter = Bounded<EvaluationResultFilter>;

/** By time, or by the ids of samples. */
export type ResultOrder = Pick<EvaluationResultSearchRequest, "order">;

export type SearchRequest = Bounded<EvaluationResultSearchRequest>;

export type SummaryRequest = Bounded<EvaluationSummaryRequest>;

export type ReviewRequest = Bounded<ReviewQueueRequest>;

export type ExportRequest = ResultFilter & Pick<EvaluationResultExportQuery, "format" | "order">;

/** Filters as a query has them. */
export function resultFilterQuery({ tags, ...rest }: ExportRequest): Query {
  return { ...rest, ...(tags ? { tags: JSON.stringify(tags) } : {}) };
}
