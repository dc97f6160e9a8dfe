/** One measured request to `/health`. */
export interface HealthSample {
  /** Milliseconds since 1970. */
  startedAt: number;
  tookMs: number;
  /** Delay caused by the machine: how late the requesting thread's timers were, or how long the server waited for a processor, whichever is longer. */
  machineMs: number;
  /** 0 if there was no response. */
  status: number;
}

export interface HealthTarget {
  url: string;
  /** The server's process id. */
  pid: number;
}

export interface HealthWatch {
  /** Without delays caused by the machine. */
  slowestMs(): number;
  requests(): number;
  stop(): void;
}

/** Requests `/health` continuously, over its own connection, and reports each response. */
export function watchHealth(url: string, pid: number, onSample: (sample: HealthSample) => void): HealthWatch {
  const worker = new Worker(new URL("./health-worker.ts", import.meta.url));
  let slowestMs = 0;
  let requests = 0;
  worker.onmessage = ({ data }: MessageEvent<HealthSample>) => {
    requests += 1;
    slowestMs = Math.max(slowestMs, data.tookMs - data.machineMs);
    onSample(data);
  };
  worker.postMessage({ url, pid } satisfies HealthTarget);
  return { slowestMs: () => slowestMs, requests: () => requests, stop: () => worker.terminate() };
}
