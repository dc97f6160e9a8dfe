/** One answer of `/health`. */
export interface HealthAnswer {
  /** Milliseconds since 1970. */
  startedAt: number;
  tookMs: number;
  /** How long meanwhile the asking thread's timers were late, or the server waited for a processor, whichever is longer. */
  heldUpMs: number;
  /** 0 if there was no answer. */
  status: number;
}

export interface HealthQuestion {
  url: string;
  /** The server's. */
  pid: number;
}

export interface HealthWatch {
  /** Without what the machine was busy with otherwise. */
  slowestMs(): number;
  asked(): number;
  stop(): void;
}

/** Asks for `/health` all the time, over a connection of its own, and reports each answer. */
export function watchHealth(url: string, pid: number, onAnswer: (answer: HealthAnswer) => void): HealthWatch {
  const worker = new Worker(new URL("./health-worker.ts", import.meta.url));
  let slowestMs = 0;
  let asked = 0;
  worker.onmessage = ({ data }: MessageEvent<HealthAnswer>) => {
    asked += 1;
    slowestMs = Math.max(slowestMs, data.tookMs - data.heldUpMs);
    onAnswer(data);
  };
  worker.postMessage({ url, pid } satisfies HealthQuestion);
  return { slowestMs: () => slowestMs, asked: () => asked, stop: () => worker.terminate() };
}
