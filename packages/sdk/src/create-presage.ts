import { type ApiKeys, apiKeys } from "./resources/api-keys.ts";
import { type Apps, apps } from "./resources/apps.ts";
import { type ChatCompletions, chatCompletions } from "./resources/chat-completions.ts";
import { type ErrorTaxonomies, errorTaxonomies } from "./resources/error-taxonomies.ts";
import { type Evaluate, evaluate } from "./resources/evaluate.ts";
import { type EvaluationResults, evaluationResults } from "./resources/evaluation-results.ts";
import { type EvaluatorProfiles, evaluatorProfiles } from "./resources/evaluator-profiles.ts";
import { type Evaluators, evaluators } from "./resources/evaluators.ts";
import { type Me, me, type WhoAmI, whoAmI } from "./resources/me.ts";
import { type Models, models } from "./resources/models.ts";
import { type Predict, predict } from "./resources/predictions.ts";
import { type Sessions, type SignOut, sessions, signOut } from "./resources/sessions.ts";
import { type Usage, usage } from "./resources/usage.ts";
import { createTransport, type Fetch } from "./transport.ts";

export interface PresageOptions {
  /** The address of Presage, without `/v1`. Defaults to the page's origin; required outside a page. */
  baseUrl?: string | undefined;
  /** If omitted, calls use the page's session cookie, on its own origin only. */
  apiKey?: string | undefined;
  /** Returns the CSRF token for calls with a session cookie, sent as `x-csrf-token`. */
  csrfToken?: (() => string | undefined) | undefined;
  /** Used instead of the global `fetch`. */
  fetch?: Fetch | undefined;
  /** Maximum number of retries of a call, if they are safe. 2 by default. */
  retries?: number | undefined;
  /** Time limit of a call in milliseconds, including retries. 130,000 by default. */
  timeoutMs?: number | undefined;
}

/** The API of one Presage, by resource. Every method rejects with a `PresageError`. */
export interface Presage {
  predict: Predict;
  evaluate: Evaluate;
  me: Me;
  whoAmI: WhoAmI;
  signOut: SignOut;
  chatCompletions: ChatCompletions;
  models: Models;
  apiKeys: ApiKeys;
  sessions: Sessions;
  evaluators: Evaluators;
  profiles: EvaluatorProfiles;
  results: EvaluationResults;
  errorTaxonomies: ErrorTaxonomies;
  usage: Usage;
  apps: Apps;
}

const defaultRetries = 2;
/** A little longer than the server's limit for a prediction, so that the server can report what went wrong. */
const defaultTimeoutMs = 130_000;

/** Creates a client. It holds no resources and need not be closed. Throws a `TypeError` for invalid options. */
export function createPresage(options: PresageOptions = {}): Presage {
  const transport = createTransport({
    baseUrl: readBaseUrl(options.baseUrl),
    apiKey: readApiKey(options.apiKey),
    csrfToken: options.csrfToken,
    fetch: options.fetch ?? ((url, init) => globalThis.fetch(url, init)),
    retries: options.retries ?? defaultRetries,
    timeoutMs: options.timeoutMs ?? defaultTimeoutMs,
  });
  return {
    predict: predict(transport),
    evaluate: evaluate(transport),
    me: me(transport),
    whoAmI: whoAmI(transport),
    signOut: signOut(transport),
    chatCompletions: chatCompletions(transport),
    models: models(transport),
    apiKeys: apiKeys(transport),
    sessions: sessions(transport),
    evaluators: evaluators(transport),
    profiles: evaluatorProfiles(transport),
    results: evaluationResults(transport),
    errorTaxonomies: errorTaxonomies(transport),
    usage: usage(transport),
    apps: apps(transport),
  };
}

function readBaseUrl(given: string | undefined): string {
  const { location } = globalThis as { location?: { origin: string } };
  const text = given ?? location?.origin;
  if (text === undefined) throw new TypeError("baseUrl is required outside a page.");
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw new TypeError("baseUrl must be an http or https URL.");
  }
  // fetch would refuse such an address with an error that repeats it.
  if (url.username !== "" || url.password !== "")
    throw new TypeError("baseUrl must not contain credentials.");
  return url.origin + url.pathname.replace(/\/+$/, "");
}

/** fetch would refuse a key that is not valid in a header with an error that repeats the key. */
function readApiKey(given: string | undefined): string | undefined {
  if (given === undefined || /^[!-~]+$/.test(given)) return given;
  throw new TypeError("apiKey must consist of visible ASCII characters.");
}
