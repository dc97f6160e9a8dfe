import type { User } from "../accounts/users-store.ts";
import type { Config } from "../config/config.ts";
import { datasetRoutes } from "../datasets/datasets-route.ts";
import { sweepRevisions } from "../datasets/datasets-store.ts";
import { previewImport } from "../datasets/traces/import.ts";
import { datasetUploadRoutes, importRoutes } from "../datasets/upload/upload-route.ts";
import { readEpisodeLines } from "../environments/episodes/episode-lines.ts";
import { exportDatasetRoute, exportEpisodesRoute, exportRunRoute } from "../exports/exports-route.ts";
import type { Caller } from "../http/caller.ts";
import { openExchange } from "../http/exchange.ts";
import type { Operation } from "../http/route.ts";
import type { Actor } from "../platform/audit.ts";
import { createByteBudget } from "../platform/limits/memory.ts";
import { createLongWork } from "../platform/limits/turns.ts";
import { createLog } from "../platform/observability/logger.ts";
import { readDatabaseClock } from "../platform/storage/clock.ts";
import { microsPerMs } from "../platform/storage/columns.ts";
import { diskFloorOf } from "../platform/storage/sqlite/sqlite.ts";
import type { OpenOptions } from "../platform/storage/store.ts";
import { modelRoutes } from "../predictions/models-route.ts";
import { predictRoute } from "../predictions/predictions-route.ts";
import { readRealityLines } from "../reality/check-run.ts";
import { realityRoutes } from "../reality/checks-route.ts";
import { watchReality } from "../reality/watch.ts";
import { evaluateRoutes } from "../results/evaluate-route.ts";
import { labelRoutes } from "../results/labels/labels.ts";
import { evaluationResultRoutes } from "../results/results-route.ts";
import { comparisonRoutes } from "../runs/compare/compare-route.ts";
import { goalRoutes } from "../runs/goals.ts";
import { runLabelRoutes } from "../runs/labels/labels-route.ts";
import {
  getCalibration,
  getWorldCalibration,
  worldCalibrationRoutes,
} from "../runs/report/calibration-route.ts";
import { runReportRoutes } from "../runs/report/report-route.ts";
import { newLeaseId, runLeaseMs } from "../runs/run.ts";
import { runSampleRoutes } from "../runs/run-samples.ts";
import { sweepRuns } from "../runs/runs.ts";
import { runRoutes } from "../runs/runs-route.ts";
import type { Deployments } from "../upstream/deployments.ts";
import { budgetRoutes, createSpending } from "../usage/budgets.ts";
import { createWorldParts } from "../worlds/world-parts.ts";
import { worldRoutes } from "../worlds/worlds-route.ts";
import { composeDeployments, composePrices, servedModels } from "./compose-deployments.ts";
import { composeEvaluation } from "./compose-evaluation.ts";
import { composeRuns, worldUses } from "./compose-runs.ts";
import type { Services } from "./services.ts";
import { composeStore, type OpenedStore } from "./storage.ts";
import { uploadInPlace } from "./uploads.ts";

/** The operations that commands call in their own process. */
const operations = [
  predictRoute,
  ...evaluateRoutes,
  ...modelRoutes,
  ...budgetRoutes,
  ...datasetRoutes,
  ...datasetUploadRoutes,
  ...importRoutes,
  exportDatasetRoute,
  exportRunRoute,
  exportEpisodesRoute,
  ...worldRoutes,
  ...worldCalibrationRoutes,
  ...realityRoutes,
  ...labelRoutes,
  ...evaluationResultRoutes,
  ...goalRoutes,
  ...runReportRoutes,
  getCalibration,
  getWorldCalibration,
  ...runLabelRoutes,
  ...comparisonRoutes,
  ...runRoutes,
  ...runSampleRoutes,
];

/** The services that these operations need. */
type CommandServices = (typeof operations)[number] extends Operation<infer Services> ? Services : never;

/** As much of `fetch` as the client uses. */
type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** The person who runs the command has the database, and so may do everything; nothing is limited. */
const unlimited = Number.MAX_SAFE_INTEGER;
const settings = {
  maxBodyBytes: unlimited,
  maxShortBodyBytes: unlimited,
  listsDeployments: true,
  debugFields: false,
};
const admission = { admit: () => undefined, leave() {}, inFlight: () => 0 };
const connection = { timeout() {}, requestIP: () => null, upgrade: () => false };

/** Calls operations in this process, without a port. An error is thrown as it is instead of becoming a response. */
function fetchHere<Services>(
  callable: readonly Operation<Services>[],
  services: Services & Pick<CommandServices, "settings" | "log">,
  caller: Caller,
): Fetch {
  const ofExchange = {
    tracing: { startRequest: () => undefined },
    memory: createByteBudget(unlimited),
    longWork: createLongWork(),
  };
  return async (url, init) => {
    for (const { declaration, bind } of callable) {
      const params = declaration.method === init.method ? readParams(declaration.path, url) : undefined;
      if (params === undefined) continue;
      const route = bind(services);
      if (route.access !== "caller") continue;
      const request = Object.assign(new Request(url, init), { params });
      // No request is sent twice, but files are evaluated again from where they stopped.
      if (declaration.once !== undefined) request.headers.delete("idempotency-key");
      const exchange = openExchange(ofExchange, request);
      return await route.handle({ request, server: connection, exchange, caller });
    }
    throw new Error(`No operation of commands is ${init.method} ${url}`);
  };
}

/** The parameters of a path (`:name`) in an address; undefined if the address has another path. */
function readParams(pathname: string, url: string): Record<string, string> | undefined {
  const found = new URLPattern({ pathname }).exec(url)?.pathname.groups;
  return (
    found &&
    Object.fromEntries(Object.entries(found).map(([name, text = ""]) => [name, decodeURIComponent(text)]))
  );
}

const noDeployments: Deployments = {
  find: () => undefined,
  all: () => [],
  areCached: () => false,
  revision: () => 0,
  replace() {},
  getDefault() {
    throw new Error("This command asks no model");
  },
};

function callerOf(
  { id: userId, account_id: accountId }: Pick<User, "id" | "account_id">,
  actor: Actor,
): Caller {
  return {
    userId,
    accountId,
    role: "owner",
    proof: { kind: "command_line", scopes: ["evaluate", "predict", "read"], actor },
  };
}

/** The parts of a server that a command without one needs. */
export interface CommandServer {
  store: OpenedStore;
  services: CommandServices & Pick<Services, "hasModel">;
  fetch: Fetch;
  /** The error that broke off a response which had begun. */
  broken(): unknown;
  /** Works on a run that was created here, or that was paused. */
  start(runId: string): void;
  /** Returns once everything is written. */
  stop(): Promise<void>;
}

/** Previews imports, without a database. */
export function composePreviews(
  { datasets: { maxBytes } }: Config,
  actor: Actor,
): Pick<CommandServer, "fetch"> {
  const uploads = { previewImport };
  const services = { settings, log: createLog("silent"), datasets: { maxBytes, uploads } };
  return { fetch: fetchHere(importRoutes, services, callerOf({ id: "", account_id: "" }, actor)) };
}

export interface CommandOptions extends OpenOptions {
  actor: Actor;
  /** `data`: reads and changes data; `budgets`: budgets as well; `work`: asks models, evaluates and works on runs. */
  purpose: Purpose;
}

type Purpose = "data" | "budgets" | "work";

/**
 * Puts together the services that answer a command in its own process, with the owner's rights. They do only what the command asks for, and
 * servers may run on the same database.
 */
export async function composeCommand(
  config: Config,
  { actor, purpose, ...open }: CommandOptions,
): Promise<CommandServer> {
  const works = purpose === "work";
  const log = createLog(works ? "warn" : "silent");
  const store = await composeStore(config, log, { ...open, readsInPlace: !works });
  const { deployments, stopSandbox } = await composeModels(config, purpose);
  const { dispose, ...evaluation } = composeEvaluation(config, log, store, {
    deployments,
    countsEarlier: works,
  });
  const worlds = createWorldParts(store, config);
  const { maxInFlight } = config.prediction;
  const places = { liveInFlight: () => 0, calls: { inFlight: 0 }, maxInFlight };
  const runs = composeRuns(config, log, store, { deployments, ...places, ...worlds });
  const leaseId = newLeaseId();
  const { log: ofResponses, broken } = keepBroken();
  const { sweep, ended } = createSweeps();
  const services: CommandServer["services"] = {
    ...evaluation,
    ...worlds,
    store,
    deployments,
    worldUses,
    settings,
    log: ofResponses,
    ...(await composeMoney(config, store, purpose)),
    admission,
    evaluationAdmission: admission,
    capture: { decide: () => "off", watch: (complete) => complete },
    isOperator: async () => true,
    pricedModels: () => servedModels(config, deployments),
    datasets: {
      ...config.datasets,
      floor: diskFloorOf(config),
      uploads: uploadInPlace(store.database),
      sweeper: { schedule: () => sweep((signal) => sweepRevisions(store.database, signal)) },
    },
    runs: {
      wake: () => (works ? runs.wake() : sweep(() => sweepRuns(store.database))),
      // A server on this database may have different deployments under the same names.
      hold: async () => ({
        leaseId,
        until: (await readDatabaseClock(store.database)) + runLeaseMs * microsPerMs,
      }),
    },
    episodeLines: (requester, selection) => readEpisodeLines({ store }, requester, selection),
    realityLines: (requester, selection) => readRealityLines({ store }, requester, selection),
    realityOf: watchReality({ store }, () => {}).stateOf,
    realEnvironments: { find: () => undefined },
    replays: { wake() {} },
  };
  return {
    store,
    services,
    broken,
    fetch: fetchHere<CommandServices>(operations, services, callerOf(store.owner, actor)),
    start: (id) => runs.start(services, { id, leaseId }),
    async stop() {
      await runs.dispose();
      await worlds.indexes.stop();
      await ended();
      await dispose();
      await stopSandbox();
      await store.destroy();
    },
  };
}

/** Without a configured model judges have none, so the log is silent about the sandbox. */
async function composeModels(config: Config, purpose: Purpose) {
  return purpose === "data"
    ? { deployments: noDeployments, stopSandbox: async () => {} }
    : await composeDeployments(config, createLog("silent").logger);
}

async function composeMoney(config: Config, { database }: OpenedStore, purpose: Purpose) {
  const prices = await composePrices(config, createLog("silent").logger).catch((error: unknown) => ({
    // Thrown when prices are read: not every command needs them.
    current() {
      throw error;
    },
  }));
  const spending = createSpending({ database, prices });
  const settleUsage = () => spending.refresh(() => new Map());
  if (purpose === "budgets") await settleUsage();
  return { prices, spending, settleUsage };
}

/** Keeps the error that broke off a response instead of logging it. */
function keepBroken() {
  let broken: unknown;
  const keep = (error: unknown) => {
    broken = error;
  };
  const { logger, ...silent } = createLog("silent");
  const keeping = Object.assign(logger, { error: ({ err }: { err?: unknown }) => keep(err) });
  return { log: { ...silent, logger: keeping, storeFailed: keep }, broken: () => broken };
}

/** Deletes the rows of deleted things. Rows that cannot be deleted are left to the next server. */
function createSweeps() {
  const { signal } = new AbortController();
  let sweeping = Promise.resolve();
  return {
    sweep(work: (signal: AbortSignal) => Promise<void>) {
      sweeping = sweeping.then(() => work(signal)).catch(() => {});
    },
    ended: () => sweeping,
  };
}
