import type { EvaluationResultDeletion, EvaluationResultDeletionCount } from "@presage/contract";
import type { CallOptions } from "../../call.ts";
import type { Transport } from "../../transport.ts";
import { type WaitOptions, waitUntil } from "../../wait-until.ts";
import { type ResultFilter, resultFilterQuery } from "./result-filter.ts";

/** For owners. Results of runs and experiments stay as long as these do. */
export interface ResultDeletions {
  /** Deletes one result with its texts and corrections: `DELETE /v1/evaluation-results/{id}`. */
  delete(id: string | number, options?: CallOptions): Promise<void>;
  /** Counts what `deleteMatching` would delete: `DELETE /v1/evaluation-results` with `dry_run`, which deletes nothing. */
  countDeletable(
    filter: Omit<ResultFilter, "has_run">,
    options?: CallOptions,
  ): Promise<EvaluationResultDeletionCount>;
  /**
   * Begins to delete all results that match, in the background: `DELETE /v1/evaluation-results`. `expectedCount` is the `count` of
   * `countDeletable`; if another number matches by now, nothing is deleted and it rejects with a `conflict`. Without any filter, all match.
   */
  deleteMatching(
    filter: Omit<ResultFilter, "has_run">,
    expectedCount: number,
    options?: CallOptions,
  ): Promise<EvaluationResultDeletion>;
  /** Gets how far a deletion is, until 30 days after its end: `GET /v1/evaluation-result-deletions/{id}`. */
  getDeletion(id: string, options?: CallOptions): Promise<EvaluationResultDeletion>;
  /** Waits until a deletion is finished, and returns it. `timeoutMs` is the limit of each read. */
  waitUntilDeleted(
    id: string,
    options?: WaitOptions<EvaluationResultDeletion>,
  ): Promise<EvaluationResultDeletion>;
}

const path = "/v1/evaluation-results";

export function resultDeletions({ json }: Transport): ResultDeletions {
  const getDeletion = (id: string, options?: CallOptions) =>
    json<EvaluationResultDeletion>(
      { method: "GET", path: `/v1/evaluation-result-deletions/${encodeURIComponent(id)}` },
      options,
    );

  return {
    async delete(id, options) {
      await json({ method: "DELETE", path: `${path}/${encodeURIComponent(id)}` }, options);
    },
    countDeletable(filter, options) {
      const query = { ...resultFilterQuery(filter), dry_run: true };
      return json({ method: "DELETE", path, query, isRepeatable: true }, options);
    },
    deleteMatching(filter, expectedCount, options) {
      const query = { ...resultFilterQuery(filter), expected_count: expectedCount };
      return json({ method: "DELETE", path, query }, options);
    },
    getDeletion,
    waitUntilDeleted: (id, options) =>
      waitUntil(
        (read) => getDeletion(id, read),
        ({ status }) => status === "finished",
        options,
      ),
  };
}
