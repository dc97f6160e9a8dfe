import type { OpenidProvider } from "../accounts/openid.ts";
import type { SessionTokens } from "../accounts/sessions.ts";
import type { SessionRules } from "../accounts/sessions-store.ts";
import type { SignIn } from "../accounts/sign-in-route.ts";
import type { KeyDigest, KeyVerifier } from "../accounts/verify-api-key.ts";
import type { HttpServices } from "../http/exchange.ts";
import type { OpenSockets } from "../http/sockets.ts";
import type { Admission } from "../platform/limits/admission.ts";
import type { PriceList } from "../platform/prices.ts";
import type { Store } from "../platform/storage/store.ts";
import type { Capture } from "../predictions/capture.ts";
import type { EvaluationServices } from "../results/evaluation-services.ts";
import type { Deployments } from "../upstream/deployments.ts";
import type { ComposedEnvironments } from "./compose-environments.ts";

/** What the operations of all features need. Made once, by `composeServer`; an operation says what of it it needs. */
export interface Services
  extends HttpServices,
    Omit<EvaluationServices, "store" | "admission">,
    Omit<ComposedEnvironments, "dispose"> {
  readonly settings: Settings;
  /** The metrics of the whole server, in Prometheus' text format. */
  readMetrics(): Promise<string>;
  readonly store: Store;
  readonly deployments: Deployments;
  /** Limits of predictions. */
  readonly admission: Admission;
  /** Limits of requests that evaluate. */
  readonly evaluationAdmission: Admission;
  /** Keeps predictions of clients. */
  readonly capture: Omit<Capture, "stop">;
  readonly prices: PriceList;
  // Until each operation says what it needs.
  readonly evaluation: EvaluationServices;
  /** The WebSockets of this process. */
  readonly sockets: OpenSockets;
  readonly keyDigest: KeyDigest;
  readonly keyVerifier: KeyVerifier;
  /** Makes the other workers forget a revoked key too; returns once they have. */
  forgetKeyElsewhere(digest: string): Promise<void>;
  readonly sessionTokens: SessionTokens;
  readonly sessionRules: SessionRules;
  /** Absent in local mode. */
  readonly openidProvider: OpenidProvider | undefined;
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
