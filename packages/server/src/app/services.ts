import type { IdentityServices } from "../accounts/identity-services.ts";
import type { SignIn } from "../accounts/sign-in-route.ts";
import type { EnvironmentServices } from "../environments/environment-services.ts";
import type { SessionCookie } from "../http/caller.ts";
import type { OpenSockets } from "../http/sockets.ts";
import type { Admission } from "../platform/limits/admission.ts";
import type { ByteBudget } from "../platform/limits/memory.ts";
import type { LongWork } from "../platform/limits/turns.ts";
import type { Log } from "../platform/observability/logger.ts";
import type { Metrics } from "../platform/observability/metrics.ts";
import type { Tracing } from "../platform/observability/tracing.ts";
import type { PriceList } from "../platform/prices.ts";
import type { Store } from "../platform/storage/store.ts";
import type { Capture } from "../predictions/capture.ts";
import type { EvaluationServices } from "../results/evaluation-services.ts";
import type { Deployments } from "../upstream/deployments.ts";
import type { Use } from "../usage/usage.ts";

/** Process phase, as `/ready` reports it. */
export type Phase = "starting" | "ready" | "stopping";

/** What routes and the operations they call need. Made once, by `composeServer`. */
export interface Services {
  readonly settings: Settings;
  phase(): Phase;
  readonly log: Log;
  readonly metrics: Metrics;
  /** The metrics of the whole server, in Prometheus' text format. */
  readMetrics(): Promise<string>;
  readonly tracing: Tracing;
  /** Counts the memory of requests in flight and of responses being written. */
  readonly memory: ByteBudget;
  /** Turns of work that would delay other requests. */
  readonly longWork: LongWork;
  readonly store: Store;
  readonly deployments: Deployments;
  /** Limits of predictions. */
  readonly admission: Admission;
  /** Keeps predictions of clients. */
  readonly capture: Omit<Capture, "stop">;
  recordUsage(use: Use): void;
  readonly prices: PriceList;
  readonly identity: IdentityServices;
  readonly evaluation: EvaluationServices;
  readonly environments: EnvironmentServices;
  /** The WebSockets of this process. */
  readonly sockets: OpenSockets;
  readonly sessionCookie: SessionCookie;
  readonly signIn: SignIn;
}

export interface Settings {
  /** Identifies this start of the server; the database has it too. */
  readonly instanceId: string;
  /** Body limit of requests with a prediction's texts or samples. */
  readonly maxBodyBytes: number;
  /** Body limit of all other requests. */
  readonly maxShortBodyBytes: number;
  /** Whether the deployments have names that clients know, as they are in a file. */
  readonly listsDeployments: boolean;
  /** Which predictions of clients are kept, and for how long. */
  readonly capture: Readonly<{ setting: string; maxAgeDays: number }>;
  /** Whether `/v1/predict` returns the prompt. */
  readonly debugFields: boolean;
  /** Whether chats are the contract's, or also what else OpenAI's clients send. */
  readonly chatCompatibility: "strict" | "openai";
  /** Required by `/metrics`; if absent, only this machine may read them. */
  readonly metricsToken: string | undefined;
  /** Where the built dashboard is. */
  readonly dashboardDirectory: string;
}
