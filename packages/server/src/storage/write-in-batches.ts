const intervalMs = 5_000;

export interface BatchedWrites<Value> {
  /** What was noted and is not being written yet; to be asked for anew for each note. */
  pending(): Map<string, Value>;
  writeNow(): Promise<void>;
  /** Writes what was noted and stops. */
  stop(): Promise<void>;
}

export interface Batching<Value> {
  write(batch: ReadonlyMap<string, Value>): Promise<void>;
  /** Puts what could not be written among what was noted meanwhile. */
  putBack(batch: ReadonlyMap<string, Value>, pending: Map<string, Value>): void;
  /** `isFirst` unless the batch before could not be written either. */
  onFailure(error: unknown, isFirst: boolean): void;
}

/** Writes every few seconds what was noted since, one batch after the other. */
export function writeInBatches<Value>({ write, putBack, onFailure }: Batching<Value>): BatchedWrites<Value> {
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
