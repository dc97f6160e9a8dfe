import type { EvaluationResult } from "@presage/contract";
import { PresageError } from "../presage-error.ts";
import type { ResultFilter, ResultOrder, SearchRequest } from "./evaluation/result-filter.ts";

const defaultPageSize = 100;

/**
 * Pages by id: unlike with an offset, results added meanwhile neither repeat nor hide others. A page is requested once the
 * one before has been read. If a page is too large for one response, smaller ones are requested.
 */
export async function* iteratePages(
  search: (request: SearchRequest) => Promise<EvaluationResult[]>,
  filter: ResultFilter & ResultOrder,
  pageSize = defaultPageSize,
): AsyncGenerator<EvaluationResult, void, undefined> {
  const bound = (filter.order ?? "-").startsWith("-") ? "before_id" : "after_id";
  let limit = pageSize;
  let from = {};
  for (;;) {
    let page: EvaluationResult[];
    try {
      page = await search({ ...filter, limit, ...from });
    } catch (error) {
      if (limit === 1 || !(error instanceof PresageError) || error.category !== "too_large") throw error;
      limit = Math.ceil(limit / 2);
      continue;
    }
    yield* page;
    const lastId = page.at(-1)?.id;
    if (page.length < limit || !lastId) return;
    from = { [bound]: lastId };
  }
}
