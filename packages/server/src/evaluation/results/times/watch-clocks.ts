import type { Logger } from "../../../observability/logger.ts";
import { findClockSkew } from "../../../storage/clock-skew.ts";
import { toIsoInstant } from "../../../storage/micros.ts";
import type { Database } from "../../../storage/schema/tables.ts";
import { countFutureResults } from "./future-results-store.ts";

const usuallyEveryMs = 60_000;
/** Beyond it nobody cares how many there are. */
const mostCounted = 10_000;

/** Says in the log when clocks begin to differ, when results are dated in the future, and when that is over. Looks at once, then every minute. */
export function watchClocks(
  database: Database,
  logger: Pick<Logger, "warn" | "info">,
  everyMs = usuallyEveryMs,
): { stop(): Promise<void> } {
  let isSkewed = false;
  let hasFuture = false;

  async function look(): Promise<void> {
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
        "results are dated in the future, by a clock that was wrong; `presage results mend-times` mends them",
      );
    } else if (count === 0 && hasFuture) logger.info("no result is dated in the future any more");
    hasFuture = count > 0;
  }

  // A store that cannot be asked is in the log already.
  const lookQuietly = () => look().catch(() => undefined);
  let looking = lookQuietly();
  const timer = setInterval(() => {
    looking = lookQuietly();
  }, everyMs);
  timer.unref();
  return {
    async stop() {
      clearInterval(timer);
      await looking;
    },
  };
}
