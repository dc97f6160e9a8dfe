/** The sequence from which results get their numbers on PostgreSQL. */
export const resultNumbers = "evaluation_result_ids";

/**
 * On PostgreSQL, whoever adds results holds the advisory lock of this number plus the sequence's last value from before they took theirs,
 * until the results are committed. Nobody else may use the advisory locks from here on, as many as there are numbers.
 */
export const firstWriterLock = "3196051254486728704";
export const writerLocks = String(2 ** 44);

/** So many neighbouring numbers make a stretch, of which the earliest and the latest time are known. Fixed for good: it is in the tables. */
export const numbersPerStretch = 2_000;
