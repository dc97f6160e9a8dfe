import { SQL } from "bun";

export interface WaitShares {
  /** The share of samples in which an active session of Presage was waiting for another transaction. */
  readonly lockShare: number;
  /** The share in which it was waiting for another session inside PostgreSQL (LWLock). */
  readonly latchShare: number;
  readonly looks: number;
}

const everyMs = 10;

/** Repeatedly samples what Presage's sessions in a database are waiting for. */
export const watchWaits = async (url: string): Promise<{ stop(): Promise<WaitShares> }> => {
  const database = new SQL(url, { max: 1 });
  await database.connect();
  const seen = { looks: 0, locks: 0, latches: 0 };
  let isOver = false;
  const watching = (async () => {
    while (!isOver) {
      const sessions: { wait_event_type: string | null }[] = await database`
        select wait_event_type from pg_stat_activity
        where application_name = 'presage' and datname = current_database() and state = 'active'`;
      for (const { wait_event_type } of sessions) {
        seen.looks += 1;
        if (wait_event_type === "Lock") seen.locks += 1;
        if (wait_event_type === "LWLock") seen.latches += 1;
      }
      await Bun.sleep(everyMs);
    }
  })();
  return {
    async stop() {
      isOver = true;
      await watching;
      await database.close();
      const { looks, locks, latches } = seen;
      return {
        looks,
        lockShare: looks === 0 ? 0 : locks / looks,
        latchShare: looks === 0 ? 0 : latches / looks,
      };
    },
  };
};
