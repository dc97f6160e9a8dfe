import {
  type ApiKeys,
  type AuditEvents,
  apiKeys,
  auditEvents,
  type Budgets,
  budgets,
  type Me,
  type Members,
  me,
  members,
  type Sessions,
  type SignOut,
  sessions,
  signOut,
  type Usage,
  usage,
  type WhoAmI,
  whoAmI,
} from "./resources/accounts.ts";
import { type Datasets, datasets, type Imports, imports } from "./resources/datasets.ts";
import { type Environments, type Episodes, environments, episodes } from "./resources/environments.ts";
import { type ErrorTaxonomies, errorTaxonomies } from "./resources/error-taxonomies.ts";
import {
  type EvaluatorProfiles,
  type Evaluators,
  evaluatorProfiles,
  evaluators,
} from "./resources/evaluators.ts";
import { type Labels, labels } from "./resources/labels.ts";
import {
  type ChatCompletions,
  chatCompletions,
  type Deployments,
  deployments,
  type Models,
  models,
  type Predict,
  predict,
} from "./resources/predictions.ts";
import {
  type Apps,
  apps,
  type Experiments,
  experiments,
  type Projects,
  projects,
} from "./resources/projects.ts";
import {
  type RealEnvironments,
  type RealityChecks,
  realEnvironments,
  realityChecks,
} from "./resources/reality-checks.ts";
import { type Evaluate, type EvaluationResults, evaluate, evaluationResults } from "./resources/results.ts";
import {
  type Comparisons,
  comparisons,
  type Goals,
  goals,
  type Runs,
  runs,
  type Shares,
  shares,
} from "./resources/runs.ts";
import { type StoredPredictions, storedPredictions } from "./resources/stored-predictions.ts";
import { type Worlds, worlds } from "./resources/worlds.ts";
import { createTransport, type Fetch } from "./transport.ts";

/** Options of `createPresage`. */
export interface PresageOptions {
  /** URL of Presage, without `/v1`. Absent: the page's own origin; required outside of a page. */
  baseUrl?: string | undefined;
  /** Absent: requests carry the page's session cookie, to its own origin only. */
  apiKey?: string | undefined;
  /** Sent as `x-csrf-token` with session-authenticated calls other than GET, to prove that they come from the page. */
  csrfToken?: (() => string | undefined) | undefined;
  /** Used instead of the global `fetch`. */
  fetch?: Fetch | undefined;
  /** Maximum number of retries, made only where they are safe. Default: 2. */
  retries?: number | undefined;
  /** Time limit of a call in milliseconds, including retries. Default: 130,000. */
  timeoutMs?: number | undefined;
}

/** The API of one Presage server, by resource. Every method rejects with a `PresageError`. */
export interface Presage {
  predict: Predict;
  evaluate: Evaluate;
  me: Me;
  whoAmI: WhoAmI;
  signOut: SignOut;
  storedPredictions: StoredPredictions;
  /** @deprecated Use `storedPredictions`. */
  keptPredictions: StoredPredictions;
  chatCompletions: ChatCompletions;
  models: Models;
  deployments: Deployments;
  apiKeys: ApiKeys;
  sessions: Sessions;
  members: Members;
  auditEvents: AuditEvents;
  evaluators: Evaluators;
  profiles: EvaluatorProfiles;
  results: EvaluationResults;
  projects: Projects;
  experiments: Experiments;
  datasets: Datasets;
  imports: Imports;
  runs: Runs;
  comparisons: Comparisons;
  shares: Shares;
  labels: Labels;
  goals: Goals;
  environments: Environments;
  episodes: Episodes;
  realityChecks: RealityChecks;
  realEnvironments: RealEnvironments;
  worlds: Worlds;
  errorTaxonomies: ErrorTaxonomies;
  usage: Usage;
  budgets: Budgets;
  apps: Apps;
}

const defaultRetries = 2;
/** A little longer than the server's default deadline, so that its error arrives. */
const defaultTimeoutMs = 130_000;

/** Creates a client. It keeps nothing open and need not be closed. Throws a `TypeError` for invalid options. */
export function createPresage(options: PresageOptions = {}): Presage {
  const transport = createTransport({
    baseUrl: readBaseUrl(options.baseUrl),
    apiKey: readApiKey(options.apiKey),
    csrfToken: options.csrfToken,
    fetch: options.fetch ?? ((url, init) => globalThis.fetch(url, init)),
    retries: options.retries ?? defaultRetries,
    timeoutMs: options.timeoutMs ?? defaultTimeoutMs,
  });
  const stored = storedPredictions(transport);
  return {
    predict: predict(transport),
    evaluate: evaluate(transport),
    me: me(transport),
    whoAmI: whoAmI(transport),
    signOut: signOut(transport),
    storedPredictions: stored,
    keptPredictions: stored,
    chatCompletions: chatCompletions(transport),
    models: models(transport),
    deployments: deployments(transport),
    apiKeys: apiKeys(transport),
    sessions: sessions(transport),
    members: members(transport),
    auditEvents: auditEvents(transport),
    evaluators: evaluators(transport),
    profiles: evaluatorProfiles(transport),
    results: evaluationResults(transport),
    projects: projects(transport),
    experiments: experiments(transport),
    datasets: datasets(transport),
    imports: imports(transport),
    runs: runs(transport),
    comparisons: comparisons(transport),
    shares: shares(transport),
    labels: labels(transport),
    goals: goals(transport),
    environments: environments(transport),
    episodes: episodes(transport),
    realityChecks: realityChecks(transport),
    realEnvironments: realEnvironments(transport),
    worlds: worlds(transport),
    errorTaxonomies: errorTaxonomies(transport),
    usage: usage(transport),
    budgets: budgets(transport),
    apps: apps(transport),
  };
}

function readBaseUrl(given: string | undefined): string {
  const { location } = globalThis as { location?: { origin: string } };
  const text = given ?? location?.origin;
  if (text === undefined) throw new TypeError("baseUrl is required outside of a page.");
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw new TypeError("baseUrl must be an http or https URL.");
  }
  // fetch would reject such a URL with an error that contains the credentials.
  if (url.username !== "" || url.password !== "")
    throw new TypeError("baseUrl must not contain credentials.");
  return url.origin + url.pathname.replace(/\/+$/, "");
}

/** For a key that is not a valid header value, fetch would throw an error that contains it. */
function readApiKey(given: string | undefined): string | undefined {
  if (given === undefined || /^[!-~]+$/.test(given)) return given;
  throw new TypeError("apiKey must consist of visible ASCII characters.");
}
