import {
  apiKeys,
  auditEvents,
  budgets,
  me,
  members,
  sessions,
  signOut,
  usage,
  whoAmI,
} from "./resources/accounts.ts";
import { datasets, imports } from "./resources/datasets.ts";
import { environments, episodes } from "./resources/environments.ts";
import { errorTaxonomies } from "./resources/error-taxonomies.ts";
import { evaluatorProfiles, evaluators } from "./resources/evaluators.ts";
import { labels } from "./resources/labels.ts";
import { chatCompletions, deployments, models, predict } from "./resources/predictions.ts";
import { apps, experiments, projects } from "./resources/projects.ts";
import { realEnvironments, realityChecks } from "./resources/reality-checks.ts";
import { evaluate, evaluationResults } from "./resources/results.ts";
import { comparisons, goals, runs, shares } from "./resources/runs.ts";
import { storedPredictions } from "./resources/stored-predictions.ts";
import { worlds } from "./resources/worlds.ts";
import { createTransport, type Fetch } from "./transport.ts";

/** Options of `createPresage`. */
export interface PresageOptions {
  /** URL of Presage; `/v1`, as OpenAI clients need it, may end it. The page's own origin if absent; required outside a page. */
  baseUrl?: string | undefined;
  /** If absent, requests carry the page's session cookie, to the page's own origin only. */
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

/** The resources of a client, by name. */
const resources = {
  predict,
  evaluate,
  me,
  whoAmI,
  signOut,
  storedPredictions,
  chatCompletions,
  models,
  deployments,
  apiKeys,
  sessions,
  members,
  auditEvents,
  evaluators,
  profiles: evaluatorProfiles,
  results: evaluationResults,
  projects,
  experiments,
  datasets,
  imports,
  runs,
  comparisons,
  shares,
  labels,
  goals,
  environments,
  episodes,
  realityChecks,
  realEnvironments,
  worlds,
  errorTaxonomies,
  usage,
  budgets,
  apps,
};

type Resources = { [Name in keyof typeof resources]: ReturnType<(typeof resources)[Name]> };

/** The API of one Presage server, by resource. Every method rejects with a `PresageError`. */
export interface Presage extends Resources {
  /** @deprecated Use `storedPredictions`. */
  keptPredictions: Resources["storedPredictions"];
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
  const made = Object.entries(resources).map(([name, make]) => [name, make(transport)]);
  const presage: Resources = Object.fromEntries(made);
  return { ...presage, keptPredictions: presage.storedPredictions };
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
  return url.origin + url.pathname.replace(/(\/v1)?\/*$/, "");
}

/** For a key that is not a valid header value, fetch would throw an error that contains it. */
function readApiKey(given: string | undefined): string | undefined {
  if (given === undefined || /^[!-~]+$/.test(given)) return given;
  throw new TypeError("apiKey must consist of visible ASCII characters.");
}
