import type { MetricObjectWithValues, MetricValue } from "prom-client";

/** The metrics of one process. */
export type Figures = MetricObjectWithValues<MetricValue<string>>[];

/** What the supervisor asks of a worker. */
export type Question =
  | { kind: "figures" }
  /** Look this key up again before its next use: it was revoked. */
  | { kind: "forget-key"; digest: string }
  | { kind: "reread-files" };

/** From the supervisor to a worker. */
export type ToWorker =
  | { kind: "question"; id: number; question: Question }
  /** The response to a request of the worker; `text` has the metrics of all workers. */
  | { kind: "response"; id: number; text?: string };

/** From a worker to the supervisor. Each request gets a response. */
export type ToSupervisor =
  | { kind: "listening"; port: number }
  | { kind: "ready"; started: Started }
  | { kind: "answer"; id: number; figures?: Figures }
  | { kind: "request"; id: number; request: SupervisorRequest };

/** What a worker asks of the supervisor: the metrics of all workers, or that all others forget a key. */
export type SupervisorRequest = { kind: "metrics" } | { kind: "forget-key"; digest: string };

/** How the supervisor starts a worker. */
export interface WorkerStart {
  /** From 0. */
  index: number;
  /** The same for all workers: they are one server. */
  instanceId: string;
  /** Where the others listen already. Absent for the first one, which listens before it is ready, like a single process. */
  port?: number;
}

/** A server that is ready, as its operator is told of it. */
export interface Started {
  /** Where it listens. */
  address: string;
  /** Where browsers reach it. */
  publicUrl: string;
  /** The one-time sign-in link of local mode. */
  signInAddress: string | undefined;
  /** The owner's first key, if this start created it. */
  firstKey: string | undefined;
}
