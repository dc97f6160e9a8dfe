/** The PostgreSQL sequence of results' numbers. */
export const resultNumbers = "evaluation_result_ids";

/**
 * On PostgreSQL, the writer of results holds an advisory lock until they are committed: this number plus the sequence's last value
 * before the writer took its numbers. Nothing else may use the `writerLocks` advisory locks from here on.
 */
export const firstWriterLock = "3196051254486728704";
export const writerLocks = String(2 ** 44);

/** Results per row of `evaluation_times`. It can never change, because the table depends on it. */
export const numbersPerStretch = 2_000;
