import type { Logger } from "../platform/observability/logger.ts";
import { findClockSkew } from "../platform/storage/clock.ts";
import { type Micros, toIsoInstant } from "../platform/storage/columns.ts";
import { type Looker, startLooking } from "../platform/storage/leases.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import { isPostgres } from "../platform/storage/store.ts";

import { selectCorrectedAt } from "./corrections-store.ts";
import { addErrorFindings, countErrorFindings } from "./error-findings-store.ts";
import { resetTagRollup } from "./summary/tags.ts";
import {
  countFutureResults,
  lockFutureResults,
  recomputeTimes,
  selectAdditionalInfo,
  selectFutureCorrections,
  selectSoundTimeNear,
  setCorrectionTime,
  setTime,
} from "./times-store.ts";
import { addCounted, recount } from "./write/counts-store.ts";
import { lockMerging, mergeCounts } from "./write/merge-counts.ts";

/** Few enough that no other writer waits long for the transaction. */
const resultsAtOnce = 200;

/** No result has a time that those dated in the future could take. */
export class NoSoundTimeError extends Error {
  constructor() {
    super("All results are dated in the future. More likely, the clock is wrong.");
    this.name = "NoSoundTimeError";
  }
}

/**
 * Gives results dated after `lastSound` the time of their nearest earlier neighbour that is not, and counts them in that day. Works in
 * batches, each a transaction of its own, so that another run resumes where the last one stopped. Returns the number of results.
 */
export async function mendTimes(database: Database, lastSound: Micros): Promise<number> {
  if (isPostgres(database)) await mergeCounts(database);
  let mended = 0;
  for (;;) {
    const some = await database.transaction().execute((transaction) => mendSome(transaction, lastSound));
    mended += some;
    if (some < resultsAtOnce) return mended;
  }
}

/** The same for corrections. Those of one result keep their order. */
export async function mendCorrections(database: Database, lastSound: Micros): Promise<number> {
  let mended = 0;
  for (;;) {
    const some = await selectFutureCorrections(database, lastSound, resultsAtOnce);
    for (const { id, result_id, created_at } of some) {
      const last = await selectCorrectedAt(database, result_id, lastSound);
      await setCorrectionTime(database, id, Math.max(created_at, last ?? 0) + 1);
    }
    mended += some.length;
    if (some.length < resultsAtOnce) return mended;
  }
}

async function mendSome(transaction: Database, lastSound: Micros): Promise<number> {
  if (isPostgres(transaction)) await lockMerging(transaction);
  const rows = await lockFutureResults(transaction, lastSound, resultsAtOnce);
  const ids = rows.map(({ id }) => id);
  const info = await selectAdditionalInfo(
    transaction,
    rows.flatMap((row) => (row.evaluator_family === "error-taxonomy" ? [row.id] : [])),
  );
  const after: typeof rows = [];
  for (const row of rows) {
    const last = after.at(-1);
    const created_at =
      last?.id === row.id - 1 ? last.created_at : await selectSoundTimeNear(transaction, row.id, lastSound);
    if (created_at === undefined) throw new NoSoundTimeError();
    after.push({ ...row, created_at });
  }
  const withInfo = (some: typeof rows) =>
    some.map((row) => ({ row, texts: { additional_info: info.get(row.id) ?? null } }));
  for (const [createdAt, same] of Map.groupBy(after, ({ created_at }) => created_at)) {
    await setTime(
      transaction,
      same.map(({ id }) => id),
      createdAt,
    );
  }
  await addCounted(transaction, recount(rows, after));
  await addErrorFindings(transaction, [
    ...countErrorFindings(withInfo(rows)).map((cell) => ({ ...cell, count: -cell.count })),
    ...countErrorFindings(withInfo(after)),
  ]);
  await recomputeTimes(transaction, ids);
  if (rows.length > 0) await resetTagRollup(transaction);
  return rows.length;
}

const usuallyEveryMs = 60_000;
/** Beyond it the exact number does not matter. */
const mostCounted = 10_000;

/** Logs when clocks begin to differ, when results are dated in the future, and when either ends. Checks at once, then every minute. */
export function watchClocks(
  database: Database,
  logger: Pick<Logger, "warn" | "info">,
  everyMs = usuallyEveryMs,
): Pick<Looker, "stop"> {
  let isSkewed = false;
  let hasFuture = false;

  async function check(): Promise<void> {
    const skew = await findClockSkew(database);
    if (skew !== undefined && !isSkewed) {
      const clocks = { own: toIsoInstant(skew.own), database: toIsoInstant(skew.database) };
      logger.warn(clocks, "the clocks of this machine and of the database differ by more than a minute");
    } else if (skew === undefined && isSkewed) logger.info("the clocks agree again");
    isSkewed = skew !== undefined;

    const count = await countFutureResults(database, mostCounted);
    if (count > 0 && !hasFuture) {
      const results = count === mostCounted ? `${mostCounted} or more` : count;
      logger.warn(
        { results },
        "results are dated in the future because a clock was wrong; run `presage results repair-times` to correct them",
      );
    } else if (count === 0 && hasFuture) logger.info("no result is dated in the future any longer");
    hasFuture = count > 0;
  }

  // An unavailable database is logged elsewhere.
  return startLooking({ look: check, intervalMs: everyMs, onFailure: () => {} });
}
