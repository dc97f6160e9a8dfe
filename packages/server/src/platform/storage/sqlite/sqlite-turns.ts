/** Who has the turn may be gone, or write for long. */
const patienceMs = 100;
const free = 0;
const taken = 1;
/** In the shared memory: whether the turn is taken, and how many threads wait for it that do not give way. */
const stateAt = 0;
const waitingAt = 1;

/** Lets threads that write one file wait for each other: a file that is locked must be tried again and again. */
export interface WriteTurn {
  /** No one waits for what this thread writes: the others go first, even those that came later. */
  readonly givesWay: boolean;
  /** Blocks the thread until it is its turn, but not for long: SQLite's lock decides who writes. */
  take(): void;
  give(): void;
}

/** What the threads of this process share, by file. */
const memories = new Map<string, SharedArrayBuffer>();

/** What a thread that writes a file starts with. */
export interface WriterData {
  path: string;
  turn: SharedArrayBuffer;
}

/** For a thread that starts to write a file, perhaps in place of one that died in its turn, or while it waited. */
export function writerData(path: string, isReplacement = false): WriterData {
  const turn = memories.get(path) ?? new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT);
  memories.set(path, turn);
  if (isReplacement) {
    const memory = new Int32Array(turn);
    Atomics.store(memory, stateAt, free);
    Atomics.store(memory, waitingAt, 0);
  }
  return { path, turn };
}

export function createWriteTurn(shared: SharedArrayBuffer, { givesWay = false } = {}): WriteTurn {
  const memory = new Int32Array(shared);
  let isMine = false;

  function takeBefore(untilMs: number): void {
    for (;;) {
      // Less than none where a thread was replaced meanwhile.
      const waiting = givesWay ? Math.max(Atomics.load(memory, waitingAt), 0) : 0;
      isMine = waiting === 0 && Atomics.compareExchange(memory, stateAt, free, taken) === free;
      const leftMs = untilMs - performance.now();
      if (isMine || leftMs <= 0) return;
      if (waiting > 0) Atomics.wait(memory, waitingAt, waiting, leftMs);
      else Atomics.wait(memory, stateAt, taken, leftMs);
    }
  }

  return {
    givesWay,
    take() {
      if (!givesWay) Atomics.add(memory, waitingAt, 1);
      takeBefore(performance.now() + patienceMs);
      if (givesWay) return;
      Atomics.sub(memory, waitingAt, 1);
      Atomics.notify(memory, waitingAt);
    },
    give() {
      if (!isMine) return;
      isMine = false;
      Atomics.store(memory, stateAt, free);
      // All: one that gives way would leave the others asleep.
      Atomics.notify(memory, stateAt);
    },
  };
}
