/** One retry for each of a request's evaluators, of which there are at most this many. */
const retriesOfRequest = 20;

/**
 * Limits the retries of all evaluators of one request together: each call returns whether one more is allowed. Without it, twenty
 * judges would call an overloaded model six times each.
 */
export function createRetryBudget(retries = retriesOfRequest): () => boolean {
  let left = retries;
  return () => {
    if (left === 0) return false;
    left -= 1;
    return true;
  };
}
