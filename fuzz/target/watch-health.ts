/** One answer of `/health`. */
export interface HealthAnswer {
  /** Milliseconds since 1970. */
  startedAt: number;
  tookMs: number;
  /** How late a timer of the asking thread was meanwhile. */
  latenessMs: number;
  /** 0 if there was no answer. */
  status: number;
}

export interface HealthWatch {
  slowest(): HealthAnswer | undefined;
  asked(): number;
  stop(): void;
}

/** Asks for `/health` all the time, over a connection of its own, and reports each answer. */
export function watchHealth(url: string, onAnswer: (answer: HealthAnswer) => void): HealthWatch {
  const worker = new Worker(new URL("./health-worker.ts", import.meta.url));
  let slowest: HealthAnswer | undefined;
  let asked = 0;
  worker.onmessage = ({ data }: MessageEvent<HealthAnswer>) => {
    asked += 1;
    if (data.tookMs > (slowest?.tookMs ?? 0)) slowest = data;
    onAnswer(data);
  };
  worker.postMessage(url);
  return { slowest: () => slowest, asked: () => asked, stop: () => worker.terminate() };
}
