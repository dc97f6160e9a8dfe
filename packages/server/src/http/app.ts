import type { Registry } from "../evaluation/evaluators/registry.ts";
import type { KeyVerifier } from "../identity/api-keys/verify-api-key.ts";
import type { Account } from "../identity/users/accounts-store.ts";
import type { User } from "../identity/users/users-store.ts";
import type { Upstream } from "../upstream/upstream.ts";
import type { Route } from "./pipeline/route.ts";
import { type ServePath, type Surroundings, servePath } from "./pipeline/serve-path.ts";
import { type ApiKeysArea, apiKeyRoutes } from "./resources/api-keys/api-keys.ts";
import { appRoutes, type ListApps } from "./resources/apps/apps.ts";
import { dashboardRoutes } from "./resources/dashboard/dashboard.ts";
import { docsRoutes } from "./resources/docs/docs.ts";
import { type EvaluateParts, evaluateRoutes } from "./resources/evaluate/evaluate.ts";
import { evaluatorRoutes } from "./resources/evaluators/evaluators.ts";
import { meRoutes } from "./resources/me/me.ts";
import { whoAmIRoutes } from "./resources/me/whoami.ts";
import { metricsRoutes } from "./resources/metrics/metrics.ts";
import { modelRoutes } from "./resources/models/models.ts";
import { type PredictionParts, predictionRoutes } from "./resources/predictions/predictions.ts";
import { type Phase, probeRoutes } from "./resources/probes/probes.ts";
import {
  type EvaluatorProfilesArea,
  evaluatorProfileRoutes,
} from "./resources/profiles/evaluator-profiles.ts";
import {
  type EvaluationResultsArea,
  evaluationResultRoutes,
} from "./resources/results/evaluation-results.ts";
import { type SessionsArea, sessionRoutes } from "./resources/sessions/sessions.ts";
import type { SessionKeeper } from "./resources/sign-in/rotate-session.ts";
import { type SignIn, signInRoutes } from "./resources/sign-in/sign-in.ts";
import { type ErrorTaxonomiesArea, errorTaxonomyRoutes } from "./resources/taxonomies/error-taxonomies.ts";
import { type UsageArea, usageRoutes } from "./resources/usage/usage.ts";

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
