/** Who has the turn may be gone, or write for long. */
const patienceMs = 100;
const free = 0;
const taken = 1;

/** Lets threads that write one file wait for each other: a file that is locked must be tried again and again. */
export interface WriteTurn {
  /** Blocks the thread until it is its turn, but not for long: SQLite's lock decides who writes. */
  take(): void;
  give(): void;
}

/** What the threads of this process share, by file. */
const memories = new Map<string, SharedArrayBuffer>();

/** For a thread that starts to write a file. */
export interface WriterData {
  path: string;
  turn: SharedArrayBuffer;
}

export function writerData(path: string): WriterData {
  const turn = memories.get(path) ?? new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
  memories.set(path, turn);
  // It may take the place of one that died in its turn.
  Atomics.store(new Int32Array(turn), 0, free);
  return { path, turn };
}

export function createWriteTurn(memory: SharedArrayBuffer): WriteTurn {
  const state = new Int32Array(memory);
  let isMine = false;
  return {
    take() {
      const untilMs = performance.now() + patienceMs;
      while (Atomics.compareExchange(state, 0, free, taken) === taken) {
        const leftMs = untilMs - performance.now();
        if (leftMs <= 0) return;
        Atomics.wait(state, 0, taken, leftMs);
      }
      isMine = true;
    },
    give() {
      if (!isMine) return;
      isMine = false;
      Atomics.store(state, 0, free);
      Atomics.notify(state, 0, 1);
    },
  };
}
