import { setTimeout as sleep } from "node:timers/promises";
import { Kysely, sql } from "kysely";
import { isPostgresDown } from "./is-postgres-down.ts";
import { postgresDialect } from "./postgres-dialect.ts";
import { storeUnavailable } from "./store-error.ts";

const probeEveryMs = 1_000;
const probeTimeoutMs = 3_000;
/** As long as statements with a time limit wait for a response. */
const maxSilenceMs = 10_000;

/**
 * Runs work whose statements have no time limit. Its signal is aborted once PostgreSQL has not responded to another connection for
 * 10 s: without that, the work would wait forever.
 */
export async function whilePostgresResponds<Result>(
  url: string,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const silence = new AbortController();
  const end = new AbortController();
  const watching = watchSilence(url, silence, end.signal);
  try {
    return await work(silence.signal);
  } catch (error) {
    throw silence.signal.aborted ? silence.signal.reason : error;
  } finally {
    end.abort();
    await watching;
  }
}

async function watchSilence(url: string, silence: AbortController, end: AbortSignal): Promise<void> {
  let respondedAtMs = performance.now();
  const probe = new Kysely({
    dialect: postgresDialect(url, {
      maxConnections: 1,
      limits: { responseTimeoutMs: probeTimeoutMs },
      onConnectionLost() {},
    }),
  });
  for (;;) {
    // The first probe comes late, so that most starts need no connection for it.
    await sleep(probeEveryMs, undefined, { signal: end }).catch(() => {});
    if (end.aborted) break;
    if (await responds(probe)) respondedAtMs = performance.now();
    else if (performance.now() - respondedAtMs > maxSilenceMs) {
      silence.abort(storeUnavailable(new Error(`no response for ${maxSilenceMs / 1000} s`)));
      break;
    }
  }
  await probe.destroy();
}

/** A refusal is a response, too. */
async function responds(probe: Kysely<unknown>): Promise<boolean> {
  return await sql`select 1`.execute(probe).then(
    () => true,
    (error: unknown) => !isPostgresDown(error),
  );
}
