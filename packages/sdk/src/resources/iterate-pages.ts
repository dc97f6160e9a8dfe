import type { EvaluationResult } from "@presage/contract";
import type { ResultFilter, ResultOrder, SearchRequest } from "./result-filter.ts";

const defaultPageSize = 100;

/**
 * Pages by id: results that are added or found meanwhile neither repeat nor hide one, as they would with an offset. A page
 * is asked for when the one before has been read.
 */
export async function* iteratePages(
  search: (request: SearchRequest) => Promise<EvaluationResult[]>,
  filter: ResultFilter & ResultOrder,
  pageSize = defaultPageSize,
): AsyncGenerator<EvaluationResult, void, undefined> {
  const bound = filter.order === "created_at" ? "after_id" : "before_id";
  let page = await search({ ...filter, limit: pageSize });
  for (;;) {
    yield* page;
    const lastId = page.at(-1)?.id;
    if (page.length < pageSize || !lastId) return;
    page = await search({ ...filter, limit: pageSize, [bound]: lastId });
  }
}
