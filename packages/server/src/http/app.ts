import type { Registry } from "../evaluation/evaluators/registry.ts";
import type { Account } from "../identity/accounts-store.ts";
import type { KeyVerifier } from "../identity/api-keys/verify-api-key.ts";
import type { User } from "../identity/users-store.ts";
import type { Upstream } from "../upstream/upstream.ts";
import type { SessionKeeper } from "./rotate-session.ts";
import type { Route } from "./route.ts";
import { type ApiKeysArea, apiKeyRoutes } from "./routes/api-keys.ts";
import { appRoutes, type ListApps } from "./routes/apps.ts";
import { dashboardRoutes } from "./routes/dashboard.ts";
import { docsRoutes } from "./routes/docs.ts";
import { type ErrorTaxonomiesArea, errorTaxonomyRoutes } from "./routes/error-taxonomies.ts";
import { type EvaluateParts, evaluateRoutes } from "./routes/evaluate.ts";
import { type EvaluationResultsArea, evaluationResultRoutes } from "./routes/evaluation-results.ts";
import { type EvaluatorProfilesArea, evaluatorProfileRoutes } from "./routes/evaluator-profiles.ts";
import { evaluatorRoutes } from "./routes/evaluators.ts";
import { meRoutes } from "./routes/me.ts";
import { metricsRoutes } from "./routes/metrics.ts";
import { modelRoutes } from "./routes/models.ts";
import { type PredictionParts, predictionRoutes } from "./routes/predictions.ts";
import { type Phase, probeRoutes } from "./routes/probes.ts";
import { type SessionsArea, sessionRoutes } from "./routes/sessions.ts";
import { type SignIn, signInRoutes } from "./routes/sign-in.ts";
import { type UsageArea, usageRoutes } from "./routes/usage.ts";
import { whoAmIRoutes } from "./routes/whoami.ts";
import { type ServePath, type Surroundings, servePath } from "./serve-path.ts";

export interface AppParts extends Pick<Surroundings, "observers" | "memory"> {
  verifier: KeyVerifier;
  signIn: SignIn;
  sessions: SessionKeeper & SessionsArea;
  phase(): Phase;
  /** What `/metrics` asks for; absent: only this machine may read them. */
  metricsToken: string | undefined;
  /** Where the built dashboard is. */
  dashboardDirectory: string;
  predictions: PredictionParts;
  listModels: Upstream["listModels"];
  apiKeys: ApiKeysArea;
  errorTaxonomies: ErrorTaxonomiesArea;
  registry: Registry;
  evaluations: EvaluateParts;
  evaluationResults: EvaluationResultsArea;
  evaluatorProfiles: EvaluatorProfilesArea;
  usage: UsageArea;
  listApps: ListApps;
  findUser(userId: string): Promise<User | undefined>;
  findAccount(accountId: string): Promise<Account | undefined>;
}

/** What `Bun.serve` is given: a handler for each path, and one for the paths that there are none for. */
export interface App {
  routes: Record<string, ServePath>;
  fetch: ServePath;
  /** When the last request came, on the clock of `performance.now()`. */
  lastRequestAtMs(): number;
  /** Requests that are not recorded yet. */
  underWay(): number;
}

/** Only a prediction's texts and samples are ever longer. */
const maxShortBodyBytes = 1024 * 1024;

/** Every route of the server. */
export function createApp(parts: AppParts): App {
  const { maxBodyBytes } = parts.predictions;
  const shortBodyBytes = Math.min(maxBodyBytes, maxShortBodyBytes);
  const routes: Route[] = [
    ...probeRoutes(parts.phase),
    ...metricsRoutes(parts.observers.metrics.registry, parts.metricsToken),
    ...docsRoutes(),
    ...dashboardRoutes(parts.dashboardDirectory),
    ...predictionRoutes(parts.predictions),
    ...modelRoutes(parts.listModels),
    ...signInRoutes(parts.signIn, parts.sessions),
    ...sessionRoutes(parts.sessions),
    ...meRoutes(parts.findUser),
    ...whoAmIRoutes(parts.findAccount),
    ...apiKeyRoutes(parts.apiKeys, parts.sessions.cookie, shortBodyBytes),
    ...errorTaxonomyRoutes(parts.errorTaxonomies, shortBodyBytes, parts.observers.log),
    ...evaluateRoutes(parts.evaluations, maxBodyBytes, parts.observers.log),
    ...evaluationResultRoutes(
      parts.evaluationResults,
      { maxBodyBytes: shortBodyBytes, maxBatchBytes: maxBodyBytes },
      parts.observers.log,
    ),
    ...evaluatorRoutes(parts.registry),
    ...evaluatorProfileRoutes(parts.evaluatorProfiles, shortBodyBytes, parts.observers.log),
    ...usageRoutes(parts.usage),
    ...appRoutes(parts.listApps),
  ];
  let lastRequestAtMs = 0;
  let underWay = 0;
  const surroundings: Surroundings = {
    credentials: { keys: parts.verifier, findSession: parts.sessions.findSession },
    observers: parts.observers,
    memory: parts.memory,
    isStopping: () => parts.phase() === "stopping",
    noteRequest: (atMs) => {
      lastRequestAtMs = atMs;
      underWay += 1;
    },
    noteAnswer: () => {
      underWay -= 1;
    },
  };
  const byPath = Object.entries(Object.groupBy(routes, ({ path }) => path));
  return {
    routes: Object.fromEntries(byPath.map(([path, ofPath = []]) => [path, servePath(ofPath, surroundings)])),
    fetch: servePath([], surroundings),
    lastRequestAtMs: () => lastRequestAtMs,
    underWay: () => underWay,
  };
}
