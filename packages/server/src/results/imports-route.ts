import {
  type ClientEvaluation,
  ClientEvaluationBatchRequest,
  ClientEvaluationBatchResponse,
  EvaluationResultBatchRequest,
  EvaluationResultBatchResponse,
  type ImportedEvaluationResult,
  type ValidationError,
} from "@presage/contract";
import { parse } from "tinyduration";
import { readEvaluatorName, readSample } from "../evaluators/old-names.ts";
import { charactersOf, type EvaluatorOutcome, type Sample, toExternalName } from "../evaluators/outcome.ts";
import type { Call } from "../http/call.ts";
import { errorResponse, idempotencyHeader, response } from "../http/describe.ts";
import { reserveResults } from "../http/memory.ts";
import { digestOf, readIdempotencyKey, readOnce } from "../http/request.ts";
import { reply, route } from "../http/route.ts";
import { InvalidRequestError, valueError } from "../http/validate.ts";
import type { Changer } from "../platform/audit.ts";
import { type Micros, toIsoInstant } from "../platform/storage/columns.ts";
import { forgetOldRequests, type Once, recordRequest } from "../platform/storage/once.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import { inTransaction, type Requester, type Store } from "../platform/storage/store.ts";
import type { KeysInFlight } from "./evaluate-route.ts";
import examples from "./examples.json" with { type: "json" };
import { type FreeRunIds, placeResults, refuseRunIds } from "./placement.ts";
import type { NewProject } from "./projects-store.ts";
import { type ResultMetadata, readResultMetadata } from "./result.ts";
import type { ResultWriter } from "./write/result-writer.ts";
import { selectRowsByRequestKeys } from "./write/stored-results-store.ts";

interface ImportServices {
  store: Store;
  resultWriter: ResultWriter;
  keysInFlight: KeysInFlight;
  freeRunIds: FreeRunIds;
}

const importOfResults = route("POST", "/v1/evaluation-results/batch", {
  needs: "evaluate",
  id: "importEvaluationResults",
  summary: "Import results from other tools",
  description:
    "Stores up to 1,000 verdicts that another tool gave, all or none. They can be searched, summarised, corrected and exported like the account's own.",
  body: EvaluationResultBatchRequest,
  bodyExample: examples.resultsToImport,
  isExact: true,
  bodyLimit: "long",
  once: "import results",
  hasOldNames: true,
  responses: {
    "201": response(
      "The stored results, in the same order",
      EvaluationResultBatchResponse,
      examples.importedResults,
    ),
    "409": errorResponse(
      "An evaluation_run_id is a run whose results Presage makes",
      "019aa5f6-7d10-7000-8c3e-0b6f5a2d9c41 is a run whose results Presage makes. Leave evaluation_run_id out, or name an experiment.",
    ),
  },
  async handle(services: ImportServices, { call, requester, body, once }) {
    const results = readImportedResults(body.evaluation_results, call.caller.userId);
    reserveImport(call, results);
    const receipts = await importResults(services, requester, results, once);
    return reply(201, { evaluation_results: receipts });
  },
});

const importOfClient = route("POST", "/v1/evaluations/batch", {
  needs: "evaluate",
  id: "importClientEvaluations",
  summary: "Import the verdicts of a client's own evaluators",
  description:
    "Stores up to 1,000 verdicts of evaluators that ran in a client, all or none, as imported results. Clients that have such evaluators send them here in the background, without the texts. A repeated batch is stored once.",
  body: ClientEvaluationBatchRequest,
  bodyExample: examples.evaluationsToImport,
  isExact: true,
  bodyLimit: "long",
  more: { requestParams: { header: idempotencyHeader } },
  responses: {
    "201": response(
      "The stored evaluations, in the same order",
      ClientEvaluationBatchResponse,
      examples.importedEvaluations,
    ),
  },
  async handle(services: ImportServices, { call, requester, body }) {
    const { evaluations } = body;
    // The client repeats a batch until it succeeds, and sends no key. Its ids distinguish the batch from all others.
    const key = readIdempotencyKey(call.request.headers) ?? digestOf(body);
    const results = readClientEvaluations(evaluations, call.caller.userId);
    reserveImport(call, results);
    const once = readOnce(call, "import evaluations", body, key);
    const receipts = await importResults(services, requester, results, once);
    return reply(201, {
      evaluations: receipts.map((receipt, index) => ({
        ...receipt,
        log_id: evaluations[index]?.log_id ?? "",
        evaluation_type: "client_evaluation" as const,
      })),
    });
  },
});

/** The two routes for results of other tools: with Presage's field names, and with a client's for its own evaluators. */
export const resultImportRoutes = [importOfResults, importOfClient];

/** An external result: only the names of its evaluator and profile are known. */
export interface ImportedResult {
  evaluatorId: string;
  profileName: string | undefined;
  sample: Sample;
  metadata: ResultMetadata;
  /** Used instead of the metadata's project id. Created if no project has this name. */
  project: NewProject | undefined;
  outcome: Omit<EvaluatorOutcome, "status">;
}

type ImportReceipt = EvaluationResultBatchResponse["evaluation_results"][number];

/**
 * Stores external results, all or none. A repeated request gets what the first one stored: the import is recorded under a
 * name, and the name and the results' positions form their request keys, which are unique.
 */
async function importResults(
  services: ImportServices,
  requester: Changer,
  results: readonly ImportedResult[],
  once: Once | undefined,
): Promise<ImportReceipt[]> {
  const { store, keysInFlight } = services;
  const { accountId } = requester;
  await refuseRunIds(
    services,
    accountId,
    results.map(({ metadata }) => metadata.runId),
  );
  if (once === undefined) return await writeImported(services, requester, results);
  const name = await nameImport(store, requester, once);
  const keys = results.map((_, index) => `import/${name}/${index}`);
  return await keysInFlight.withKeys([`${accountId}/${name}`], requester.signal, async () => {
    const before = await findImported(store.database, accountId, keys);
    // If a repeated request in another process stored them first, the writer returns those.
    return before ?? (await writeImported(services, requester, results, keys));
  });
}

async function nameImport(store: Store, requester: Requester, once: Once): Promise<string> {
  const newName = crypto.randomUUID();
  const earlier = await inTransaction(store, requester, (transaction) =>
    recordRequest(transaction, once, newName),
  );
  if (earlier !== undefined) return earlier;
  // If the deletion fails, a later request makes up for it.
  void forgetOldRequests(store.database).catch(() => {});
  return newName;
}

async function writeImported(
  services: ImportServices,
  requester: Changer,
  results: readonly ImportedResult[],
  requestKeys: readonly string[] = [],
): Promise<ImportReceipt[]> {
  const wanted = results.map(({ metadata: { projectId, experimentId }, project }) => ({
    projectId,
    project,
    experimentId,
  }));
  const placements = await placeResults(services, requester, wanted);
  const stored = await services.resultWriter.write(
    results.map(({ evaluatorId, profileName, sample, metadata, outcome }, index) => ({
      accountId: requester.accountId,
      evaluatorId,
      requestKey: requestKeys[index],
      profile: profileName === undefined ? undefined : { name: profileName },
      explainStrategy: outcome.explanation === undefined ? "never" : "always",
      isExternal: true,
      sample,
      metadata: { ...metadata, ...placements[index] },
      outcome: { ...outcome, status: "success" },
    })),
  );
  return stored.map(({ id, metadata: { app }, evaluatorId, createdAt }) =>
    toReceipt(id, app, evaluatorId, createdAt),
  );
}

/** The results of an import in its order, if they are stored: all are, or none. */
async function findImported(database: Database, accountId: string, keys: readonly string[]) {
  const rows = await selectRowsByRequestKeys(database, accountId, keys);
  const byKey = new Map(rows.map((row) => [row.request_key, row]));
  const found = keys.flatMap((key) => {
    const row = byKey.get(key);
    return row === undefined ? [] : [toReceipt(row.id, row.app, row.evaluator_id, row.created_at)];
  });
  return found.length === keys.length ? found : undefined;
}

const secondsPer = { weeks: 604_800, days: 86_400, hours: 3_600, minutes: 60, seconds: 1 } as const;
const durationUnits = "Durations are weeks, days, hours, minutes and seconds";
type Unit = keyof typeof secondsPer;

/** Reads the results of an import, a list of the body; throws every issue that their schema cannot express. */
function readImportedResults(
  results: readonly ImportedEvaluationResult[],
  userId: string,
  listName = "evaluation_results",
): ImportedResult[] {
  const issues: ValidationError[] = [];
  const read = results.map((result, index) => {
    const { evaluator_id, profile_name, criteria, pass, score_raw, explanation } = result;
    const micros = (field: "evaluation_duration" | "explanation_duration") => {
      const value = readDuration(result[field]);
      if (value !== "unreadable") return value;
      issues.push(valueError(["body", listName, index, field], durationUnits, result[field]));
      return undefined;
    };
    return {
      // What an export calls external:NAME is imported as NAME.
      evaluatorId: readEvaluatorName(evaluator_id).name ?? evaluator_id,
      profileName: profile_name ?? criteria ?? undefined,
      sample: readSample(result),
      metadata: readResultMetadata(result),
      project: result.project_name ? { name: result.project_name, userId } : undefined,
      outcome: {
        pass: pass ?? undefined,
        score: typeof score_raw === "number" ? score_raw : undefined,
        explanation: explanation ?? undefined,
        evaluationMicros: micros("evaluation_duration"),
        explanationMicros: micros("explanation_duration"),
      },
    };
  });
  if (issues.length > 0) throw new InvalidRequestError(issues);
  return read;
}

/** Reads the results of a client's own evaluators. Fields that a result does not have become details of its verdict. */
function readClientEvaluations(evaluations: readonly ClientEvaluation[], userId: string): ImportedResult[] {
  const scores = evaluations.map(({ score }) => (isUnitScore(score) ? score : undefined));
  const results = evaluations.map((evaluation, index) => ({ ...evaluation, score_raw: scores[index] }));
  return readImportedResults(results, userId, "evaluations").map((result, index) => ({
    ...result,
    outcome: { ...result.outcome, extra: detailsOf(evaluations[index], scores[index] === undefined) },
  }));
}

function isUnitScore(score: ClientEvaluation["score"]): score is number {
  return typeof score === "number" && score >= 0 && score <= 1;
}

function detailsOf(evaluation: ClientEvaluation | undefined, withScore: boolean): Record<string, unknown> {
  if (evaluation === undefined) return {};
  const { log_id, trace_id, span_id, text_output, metadata, metric_name, metric_description, created_at } =
    evaluation;
  const details = {
    score: withScore ? evaluation.score : undefined,
    text_output,
    metadata,
    metric_name,
    metric_description,
    log_id,
    trace_id,
    span_id,
    created_at,
  };
  return Object.fromEntries(Object.entries(details).filter(([, value]) => (value ?? null) !== null));
}

/** Years and months have no fixed length, and a store cannot count more than a safe integer of microseconds. */
function readDuration(text: string | null | undefined): Micros | "unreadable" | undefined {
  if (text === null || text === undefined) return undefined;
  const { years, months, ...parts } = parse(text);
  const units = Object.keys(secondsPer) as Unit[];
  const seconds = units.reduce((total, unit) => total + (parts[unit] ?? 0) * secondsPer[unit], 0);
  const micros = Math.round(seconds * 1e6);
  return years || months || !Number.isSafeInteger(micros) ? "unreadable" : micros;
}

/** Reserves the memory that results take while they are stored. */
function reserveImport({ exchange }: Call, results: readonly ImportedResult[]): void {
  const storedCharacters = results.reduce((sum, result) => sum + charactersOfImport(result), 0);
  reserveResults(exchange, { stored: results.length, storedCharacters, isResponseLong: false });
}

function charactersOfImport({ sample, outcome: { explanation = "", extra = {} } }: ImportedResult): number {
  return charactersOf(sample) + explanation.length + JSON.stringify(extra).length;
}

function toReceipt(id: number, app: string, evaluatorId: string, createdAt: Micros): ImportReceipt {
  return {
    id: String(id),
    app,
    created_at: toIsoInstant(createdAt),
    evaluator_id: toExternalName(evaluatorId),
  };
}
