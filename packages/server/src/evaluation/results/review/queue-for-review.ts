import type { Requester } from "../../../storage/reader.ts";
import type { EvaluationServices } from "../../evaluation-services.ts";
import type { SearchFilter } from "../search/result-filter.ts";
import { selectResultIds } from "../search/search-store.ts";
import { withTimesAsIds } from "../search/times-as-ids.ts";
import { type Ranked, rankByCertainty, rankByChance } from "./rank-for-review.ts";
import { selectReviewColumns } from "./review-store.ts";

/** No index has how certain a verdict is, so the newest ones are compared: their narrow rows are read in some ten milliseconds. */
const maxConsidered = 5_000;

export interface QueueWanted {
  filter: SearchFilter;
  order: "least-certain" | "random";
  seed: number;
  limit: number;
}

export interface ReviewQueue {
  considered: number;
  reviewed: number;
  items: Ranked[];
}

/** What a person should look at, of the newest results of a filter. */
export async function queueForReview(
  { store, registry }: Pick<EvaluationServices, "store" | "registry">,
  requester: Requester,
  { filter, order, seed, limit }: QueueWanted,
): Promise<ReviewQueue> {
  const { accountId } = requester;
  const reader = store.reader(requester);
  const page = { order: "newest-first", limit: maxConsidered } as const;
  const ids = await selectResultIds(reader, {
    accountId,
    filter: await withTimesAsIds(reader, filter),
    page,
  });
  const rows = await selectReviewColumns(reader, ids);
  const candidates = rows.map((row) => ({
    id: row.id,
    evaluatorId: row.evaluator_id,
    profilePublicId: row.profile_public_id,
    profileRevision: row.profile_revision,
    runId: row.run_id,
    datasetId: row.dataset_id,
    sampleKey: row.sample_key,
    pass: row.pass === null ? null : row.pass === 1,
    score: row.score,
    isModelJudged: registry.findFamily(row.evaluator_family ?? "")?.kind === "model",
    isReviewed: row.correction_id !== null,
  }));
  const ranked = order === "random" ? rankByChance(candidates, seed) : rankByCertainty(candidates, seed);
  return {
    considered: candidates.length,
    reviewed: candidates.filter(({ isReviewed }) => isReviewed).length,
    items: ranked.slice(0, limit),
  };
}
