import type { Logger } from "../platform/observability/logger.ts";
import { findClockSkew } from "../platform/storage/clock-skew.ts";
import { toIsoInstant } from "../platform/storage/micros.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import { countFutureResults } from "./future-results-store.ts";

const usuallyEveryMs = 60_000;
/** Beyond it the exact number does not matter. */
const mostCounted = 10_000;

/** Logs when clocks begin to differ, when results are dated in the future, and when either ends. Checks at once, then every minute. */
export function watchClocks(
  database: Database,
  logger: Pick<Logger, "warn" | "info">,
  everyMs = usuallyEveryMs,
): { stop(): Promise<void> } {
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
        "results are dated in the future because a clock was wrong; run `presage results mend-times` to correct them",
      );
    } else if (count === 0 && hasFuture) logger.info("no result is dated in the future any longer");
    hasFuture = count > 0;
  }

  // An unavailable database is logged elsewhere.
  const checkQuietly = () => check().catch(() => undefined);
  let checking = checkQuietly();
  const timer = setInterval(() => {
    // One check at a time: two at once would report the same change twice.
    checking = checking.then(checkQuietly);
  }, everyMs);
  timer.unref();
  return {
    async stop() {
      clearInterval(timer);
      await checking;
    },
  };
}
