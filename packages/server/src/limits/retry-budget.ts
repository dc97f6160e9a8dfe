/** As many as a request may have evaluators, so that each has one more try when the upstream stumbles. */
const retriesOfRequest = 20;

/**
 * How often the evaluators of one request may ask a model again after a failure, all of them together: each call says whether
 * one more try is allowed. Without it twenty judges would ask a busy model six times each.
 */
export function createRetryBudget(retries = retriesOfRequest): () => boolean {
  let left = retries;
  return () => {
    if (left === 0) return false;
    left -= 1;
    return true;
  };
}
