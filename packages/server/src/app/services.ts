import type { RealityCheckSelection } from "@presage/contract";
import type { OpenidProvider } from "../accounts/openid.ts";
import type { SessionTokens } from "../accounts/sessions.ts";
import type { SessionRules } from "../accounts/sessions-store.ts";
import type { SignIn } from "../accounts/sign-in-route.ts";
import type { KeyDigest, KeyVerifier } from "../accounts/verify-api-key.ts";
import type { DatasetUploads } from "../datasets/upload/upload-revision.ts";
import type { ProfileRevision } from "../evaluators/profiles/profiles-store.ts";
import type { Registry } from "../evaluators/registry.ts";
import type { RuleRunner } from "../evaluators/rules/run-rule.ts";
import type { RunEvaluator } from "../evaluators/run-evaluator.ts";
import type { Caller } from "../http/caller.ts";
import type { HttpServices } from "../http/exchange.ts";
import type { OpenSockets } from "../http/sockets.ts";
import type { Admission } from "../platform/limits/admission.ts";
import type { PriceList } from "../platform/prices.ts";
import type { Requester, Store } from "../platform/storage/store.ts";
import type { Capture } from "../predictions/capture.ts";
import type { FindPrompts } from "../predictions/stored-predictions.ts";
import type { RealEnvironments } from "../reality/real/real-environment.ts";
import type { RealityWatch } from "../reality/watch.ts";
import type { KeysInFlight } from "../results/evaluate-route.ts";
import type { FreeRunIds } from "../results/placement.ts";
import type { CountsMerger } from "../results/write/merge-counts.ts";
import type { ResultWriter } from "../results/write/result-writer.ts";
import type { ClientCounts } from "../runs/client/client-counts.ts";
import type { RunQueue } from "../runs/run.ts";
import type { RunStreams } from "../runs/run-events.ts";
import type { Deployments } from "../upstream/deployments.ts";
import type { Spending } from "../usage/budgets.ts";
import type { WorldParts } from "../worlds/world-parts.ts";
import type { WorldUses } from "../worlds/worlds.ts";
import type { ComposedEnvironments } from "./compose-environments.ts";
import type { Uploads } from "./uploads.ts";

/** The services for operations on evaluators, profiles, taxonomies and results. */
export interface EvaluationServices {
  readonly store: Store;
  readonly registry: Registry;
  /** Whether a model is configured for evaluators that use one. */
  readonly hasModel: boolean;
  readonly builtInProfiles: readonly ProfileRevision[];
  readonly rules: RuleRunner;
  readonly runEvaluator: RunEvaluator;
  /** Limits of requests that evaluate. */
  readonly admission: Admission;
  readonly keysInFlight: KeysInFlight;
  readonly freeRunIds: FreeRunIds;
  readonly clientCounts: ClientCounts;
  readonly resultWriter: ResultWriter;
  readonly countsMerger: Pick<CountsMerger, "schedule">;
  /** Deletions by filter are carried out in the background. */
  readonly deletions: { schedule(): void };
  readonly datasets: DatasetUploads & { readonly uploads: Uploads };
  readonly runs: RunQueue;
}

/** The services for operations of all features. Made once, by `composeServer`; each operation names those that it needs. */
export interface Services
  extends HttpServices,
    WorldParts,
    Omit<EvaluationServices, "store" | "admission">,
    Omit<ComposedEnvironments, "dispose"> {
  readonly settings: Settings;
  /** The metrics of the whole server, in Prometheus' text format. */
  readMetrics(): Promise<string>;
  readonly store: Store;
  readonly worldUses: WorldUses;
  readonly deployments: Deployments;
  readonly realEnvironments: RealEnvironments;
  /** Limits of predictions. */
  readonly admission: Admission;
  /** Limits of requests that evaluate. */
  readonly evaluationAdmission: Admission;
  readonly capture: Capture;
  /** Whether a caller belongs to the operator's account, which may see replicas. */
  isOperator(caller: Caller): Promise<boolean>;
  readonly findPrompt: FindPrompts;
  readonly prices: PriceList;
  readonly spending: Spending;
  /** Stores the counted usage, and reads the budgets again. */
  settleUsage(): Promise<void>;
  /** The models used unless a request names another, as far as they are known. */
  pricedModels(): string[];
  /** The lines of a dataset in which each episode that checks replayed is a trajectory of what really happened. */
  realityLines(requester: Requester, selection: RealityCheckSelection): AsyncIterable<Uint8Array>;
  readonly realityOf: RealityWatch["stateOf"];
  /** Replays the episodes that reality checks wait for. */
  readonly replays: { wake(): void };
  readonly runStreams: RunStreams;
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
  /** Identifies this start of the server; also stored in the database. */
  readonly instanceId: string;
  /** Body limit of requests with a prediction's texts or samples. */
  readonly maxBodyBytes: number;
  /** Body limit of all other requests. */
  readonly maxShortBodyBytes: number;
  /** Whether deployments have names that clients know, because they come from a file. */
  readonly listsDeployments: boolean;
  /** Which predictions of clients are stored, and for how long. */
  readonly capture: Readonly<{ setting: string; maxAgeDays: number }>;
  /** Whether `/v1/predict` returns the prompt. */
  readonly debugFields: boolean;
  /** Whether chats follow the contract only, or may have whatever else OpenAI's clients send. */
  readonly chatCompatibility: "strict" | "openai";
  /** Required by `/metrics`; if absent, only this machine may read them. */
  readonly metricsToken: string | undefined;
  /** The directory of the built dashboard. */
  readonly dashboardDirectory: string;
}
