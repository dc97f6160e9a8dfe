const usualIntervalMs = 5_000;

export interface BatchedWrites<Value> {
  /** What is collected for the next batch. To be called again for each change: every batch has its own map. */
  pending(): Map<string, Value>;
  writeNow(): Promise<void>;
  /** Writes what is pending and stops. */
  stop(): Promise<void>;
}

export interface Batching<Value> {
  /** Absent: five seconds. */
  intervalMs?: number;
  write(batch: ReadonlyMap<string, Value>): Promise<void>;
  /** Returns what could not be written to what was collected meanwhile. */
  putBack(batch: ReadonlyMap<string, Value>, pending: Map<string, Value>): void;
  /** `isFirst`: the previous batch was written. */
  onFailure(error: unknown, isFirst: boolean): void;
}

/** Writes what is pending every few seconds, one batch after the other. */
export function writeInBatches<Value>({
  intervalMs = usualIntervalMs,
  write,
  putBack,
  onFailure,
}: Batching<Value>): BatchedWrites<Value> {
  let pending = new Map<string, Value>();
  let writing: Promise<void> = Promise.resolve();
  let isFailing = false;

  async function writePending(): Promise<void> {
    if (pending.size === 0) return;
    const batch = pending;
    pending = new Map();
    try {
      await write(batch);
      isFailing = false;
    } catch (error) {
      onFailure(error, !isFailing);
      isFailing = true;
      putBack(batch, pending);
    }
  }

  function writeNow(): Promise<void> {
    writing = writing.then(writePending);
    return writing;
  }

  const timer = setInterval(writeNow, intervalMs);
  return {
    pending: () => pending,
    writeNow,
    async stop() {
      clearInterval(timer);
      await writeNow();
    },
  };
}
