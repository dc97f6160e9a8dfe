import type { Config } from "../config/config.ts";
import { ClockSkewError, findClockSkew, readDatabaseClock } from "../platform/storage/clock.ts";
import { toIsoInstant } from "../platform/storage/columns.ts";
import { countOf } from "../platform/words.ts";
import { mendCorrections, mendTimes, NoSoundTimeError } from "../results/times.ts";
import { describeFuture, lastSoundTime } from "../results/times-store.ts";
import { CommandError } from "./command-error.ts";
import { printNotice } from "./print-notice.ts";
import { withDatabase } from "./with-database.ts";

/** Gives results that a wrong clock dated in the future the times of their neighbours. */
export async function mendResultTimes(config: Config, { dryRun }: { dryRun?: boolean }): Promise<void> {
  await withDatabase(config, async ({ database }) => {
    const skew = await findClockSkew(database);
    if (skew !== undefined) throw new ClockSkewError(skew);
    const now = await readDatabaseClock(database);
    const { count, firstId, lastId, earliest, latest } = await describeFuture(database, lastSoundTime(now));
    const found =
      count === 0
        ? "No result is dated in the future"
        : `${countOf(count, "result")} dated in the future, from ${toIsoInstant(earliest)} to ${toIsoInstant(latest)}, with ids from ${firstId} to ${lastId}`;
    printNotice(`It is ${toIsoInstant(now)}. ${found}.`, process.stdout);
    if (dryRun) {
      if (count > 0)
        printNotice(
          "Nothing was changed. Without --dry-run, each would get the time of the result before it.",
          process.stdout,
        );
      return;
    }
    try {
      const results = await mendTimes(database, lastSoundTime(now));
      const corrections = await mendCorrections(database, lastSoundTime(now));
      printNotice(
        `Mended the times of ${countOf(results, "result")} and ${countOf(corrections, "correction")}.`,
        process.stdout,
      );
    } catch (error) {
      throw error instanceof NoSoundTimeError ? new CommandError(error.message) : error;
    }
  });
}
