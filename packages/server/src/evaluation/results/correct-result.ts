import { ServiceError } from "../../errors.ts";
import { inTransaction } from "../../storage/in-transaction.ts";
import type { Database } from "../../storage/tables.ts";
import { insertCorrection, selectCountedVerdict } from "./corrections-store.ts";
import { type Counted, countResults } from "./count-results.ts";
import type { KeptResult } from "./evaluation-record.ts";
import { noSuchResult } from "./find-result.ts";
import { selectResult } from "./kept-results-store.ts";
import { addCounts, advanceClock } from "./results-store.ts";

/** What a person says about the verdict of a result. */
export interface NewCorrection {
  userId: string;
  resultId: number;
  pass: boolean;
  /** Absent: 1 for a pass, 0 for a fail. */
  score: number | undefined;
  comment: string | undefined;
}

/** Appends a correction, which counts from then on in searches and summaries, and returns the result with it. */
export async function correctResult(
  database: Database,
  accountId: string,
  { userId, resultId, pass, score = Number(pass), comment }: NewCorrection,
): Promise<KeptResult> {
  return await inTransaction(database, async (transaction) => {
    // Whoever holds the clock is alone: of two corrections of one result the second sees what the first has counted.
    const clock = await advanceClock(transaction, 0);
    const result = await selectResult(transaction, accountId, resultId);
    if (result === undefined) throw noSuchResult();
    if (result.finding.status !== "success") {
      throw new ServiceError("conflict", "The evaluation came to no verdict that could be corrected.");
    }
    const counted = await selectCountedVerdict(transaction, resultId);
    const createdAt = Math.max(clock.createdAt, (counted.correctedAt ?? 0) + 1);
    await insertCorrection(transaction, {
      id: Bun.randomUUIDv7(),
      result_id: resultId,
      account_id: accountId,
      profile_public_id: result.profile?.publicId ?? null,
      user_id: userId,
      pass: Number(pass),
      score,
      comment: comment ?? null,
      created_at: createdAt,
    });
    await addCounts(transaction, takenAway(countAs(result, counted)));
    await addCounts(transaction, countAs(result, { pass, score }));
    return { ...result, correction: { pass, score, comment, createdAt } };
  });
}

/** The result's share of the rollup with this verdict. */
function countAs(
  result: KeptResult,
  { pass, score }: { pass: boolean | undefined; score: number | undefined },
): Counted {
  const { status } = result.finding;
  const finding = {
    status,
    ...(pass === undefined ? {} : { pass }),
    ...(score === undefined ? {} : { score }),
  };
  return countResults([{ ...result, finding }]);
}

function takenAway({ series, counts }: Counted): Counted {
  return {
    series,
    counts: counts.map((cell) => ({
      ...cell,
      count: -cell.count,
      score_sum: -cell.score_sum,
      score_sum_of_squares: -cell.score_sum_of_squares,
    })),
  };
}
