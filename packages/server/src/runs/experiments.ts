import {
  defaultPageLimit,
  type Experiment,
  ExperimentCreateRequest,
  ExperimentListQuery,
  ExperimentListResponse,
  ExperimentPath,
  ExperimentResponse,
  ExperimentUpdateRequest,
} from "@presage/contract";
import { type RawBuilder, sql } from "kysely";
import type { ZodOpenApiPathsObject } from "zod-openapi";
import type { Services } from "../app/services.ts";
import { type CallWithCaller, requesterOf } from "../http/call.ts";
import { body, idempotencyHeader, noSuch, operation, pageTooLarge, response } from "../http/describe.ts";
import { parseJson, readExactBody, readOnce, readPage, readPath, readQuery } from "../http/request.ts";
import { streamList } from "../http/response.ts";
import { type Route, withCaller } from "../http/route.ts";
import { InvalidRequestError, valueError } from "../http/validate.ts";
import { type Changer, recordChange } from "../platform/audit.ts";
import { ServiceError } from "../platform/errors.ts";
import { nowMicros, toIsoInstant } from "../platform/storage/columns.ts";
import { type Pieces, readInPieces, refuseLargePage } from "../platform/storage/lists.ts";
import { doOnce, type Once } from "../platform/storage/once.ts";
import type { RunsTable } from "../platform/storage/schema/runs.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import type { Requester } from "../platform/storage/store.ts";
import type { EvaluationServices } from "../results/evaluation-services.ts";
import { exampleProject } from "../results/projects.ts";
import { selectProject } from "../results/projects-store.ts";
import { notCounted, type Run } from "./run.ts";
import { insertRun } from "./runs-store.ts";

/** A run whose target is external, as `/v1/experiments` has it. */
export interface ExperimentRow extends Pick<RunsTable, "id" | "name" | "tags" | "metadata" | "created_at"> {
  project_id: string;
}

const columns = ["id", "name", "tags", "metadata", "created_at"] as const;

/** Without a parameter, so that the indexes of external runs serve it. */
const isExperiment: RawBuilder<boolean> = sql`target_kind = 'external' and status <> 'deleted'`;

async function selectExperiment(
  database: Database,
  accountId: string,
  id: string,
): Promise<ExperimentRow | undefined> {
  return (await selectExperimentsByIds(database, accountId, [id]))[0];
}

/** Replaces an experiment's metadata. Returns undefined if the account has no such experiment. */
async function replaceMetadata(
  writer: Database,
  accountId: string,
  id: string,
  metadata: string,
): Promise<ExperimentRow | undefined> {
  return await writer
    .updateTable("runs")
    .set({ metadata })
    .where("id", "=", id)
    .where("account_id", "=", accountId)
    .where(isExperiment)
    .returning(columns)
    .returning((of) => of.ref("project_id").$notNull().as("project_id"))
    .executeTakeFirst();
}

export interface ExperimentPage {
  /** Absent: of any project. */
  projectId: string | undefined;
  limit: number;
  offset: number;
}

/** The ids of an account's experiments, newest first, with their approximate sizes. */
export async function selectExperimentSizes(
  reader: Database,
  accountId: string,
  { projectId, limit, offset }: ExperimentPage,
): Promise<{ id: string; bytes: number }[]> {
  const bytes = sql<number>`coalesce(octet_length(tags), 0) + coalesce(octet_length(metadata), 0)`;
  let query = reader
    .selectFrom("runs")
    .select(["id", bytes.as("bytes")])
    .where("account_id", "=", accountId)
    .where(isExperiment);
  if (projectId !== undefined) query = query.where("project_id", "=", projectId);
  return await query
    .orderBy("created_at", "desc")
    .orderBy("id", "desc")
    .limit(limit)
    .offset(offset)
    .execute();
}

/** An account's experiments of these ids, in no particular order. */
async function selectExperimentsByIds(
  reader: Database,
  accountId: string,
  ids: readonly string[],
): Promise<ExperimentRow[]> {
  if (ids.length === 0) return [];
  return await reader
    .selectFrom("runs")
    .select(columns)
    .select((of) => of.ref("project_id").$notNull().as("project_id"))
    .where("id", "in", ids)
    .where("account_id", "=", accountId)
    .where(isExperiment)
    .execute();
}

async function findExperiment(
  { store }: Pick<EvaluationServices, "store">,
  requester: Requester,
  id: string,
): Promise<ExperimentRow> {
  const experiment = await selectExperiment(store.briefReader(requester), requester.accountId, id);
  if (experiment === undefined) throw noSuchExperiment();
  return experiment;
}

function noSuchExperiment(): ServiceError {
  return new ServiceError("not_found", "There is no such experiment.");
}

export interface NewExperiment {
  projectId: string;
  name: string;
  tags: Readonly<Record<string, string>> | undefined;
  metadata: Readonly<Record<string, unknown>> | undefined;
  userId: string;
}

/** An experiment in a project that the account does not have. */
class UnknownProjectError extends Error {
  constructor() {
    super("The account has no such project");
    this.name = "UnknownProjectError";
  }
}

/** Creates an experiment: a run whose results its client makes. Throws an `UnknownProjectError` if the account has no such project. */
async function createExperiment(
  { store, runs }: Pick<EvaluationServices, "store" | "runs">,
  requester: Changer,
  { projectId, metadata, ...wanted }: NewExperiment,
  once: Once | undefined,
): Promise<ExperimentRow> {
  const { accountId } = requester;
  const metadataJson = metadata === undefined ? null : JSON.stringify(metadata);
  return await doOnce(store.writer(requester), once, {
    async work(transaction) {
      const project = await selectProject(transaction, accountId, projectId);
      if (project === undefined) throw new UnknownProjectError();
      const run = toRun({ ...wanted, accountId, version: runs.version });
      const placement = { project_id: project.id, metadata: metadataJson };
      await insertRun(transaction, run, { placement });
      const { id, name, tags, createdAt } = run;
      const detail = { name, project_id: project.id };
      await recordChange(transaction, requester, { action: "experiment.create", objectId: id, detail });
      return {
        ...placement,
        id,
        name,
        tags: tags === undefined ? null : JSON.stringify(tags),
        created_at: createdAt,
      };
    },
    toReceipt: ({ id }) => ({ id }),
    async recall({ id }) {
      const experiment = await selectExperiment(store.database, accountId, id);
      if (experiment === undefined) throw noSuchExperiment();
      // It may have been replaced since. A repeated request has that of the first.
      return { ...experiment, metadata: metadataJson };
    },
  });
}

type NewExternalRun = Omit<NewExperiment, "projectId" | "metadata"> & { accountId: string; version: string };

/** It runs from the start, until it is cancelled: only the client knows what is still to come. */
function toRun({ accountId, name, tags, userId, version }: NewExternalRun): Run {
  const createdAt = nowMicros();
  return {
    id: Bun.randomUUIDv7(),
    accountId,
    name,
    status: "running",
    statusReason: undefined,
    pausedBy: undefined,
    target: { kind: "external" },
    mode: "teacher-forced",
    params: undefined,
    evaluators: [],
    repeats: 1,
    concurrency: 1,
    tags,
    dataset: undefined,
    counts: { samples: 0, ...notCounted },
    tries: undefined,
    provenance: {
      presage_version: version,
      prompt_version: null,
      dataset_digest: null,
      models: [],
      in_sample: false,
    },
    notes: [],
    createdBy: userId,
    // It asks no model.
    apiKeyId: undefined,
    createdAt,
    startedAt: createdAt,
    finishedAt: undefined,
  };
}

/** One page of an account's experiments, newest first. */
async function listExperiments(
  { store }: Pick<EvaluationServices, "store">,
  requester: Requester,
  page: ExperimentPage,
): Promise<Pieces<ExperimentRow>> {
  const { accountId } = requester;
  const reader = store.briefReader(requester);
  const sizes = await selectExperimentSizes(reader, accountId, page);
  refuseLargePage(
    sizes.map(({ bytes }) => bytes),
    "experiments",
    "Ask for fewer experiments with limit.",
  );
  const ids = sizes.map(({ id }) => id);
  const bytesOf = new Map(sizes.map(({ id, bytes }) => [id, bytes]));
  return readInPieces(ids, bytesOf, async (some) => {
    const read = await selectExperimentsByIds(reader, accountId, some);
    const byId = new Map(read.map((experiment) => [experiment.id, experiment]));
    return some.flatMap((id) => byId.get(id) ?? []);
  });
}

/** Replaces an experiment's metadata. */
async function updateExperiment(
  { store }: Pick<EvaluationServices, "store">,
  requester: Changer,
  id: string,
  metadata: Readonly<Record<string, unknown>>,
): Promise<ExperimentRow> {
  const json = JSON.stringify(metadata);
  return await store
    .writer(requester)
    .transaction()
    .execute(async (transaction) => {
      const updated = await replaceMetadata(transaction, requester.accountId, id, json);
      if (updated === undefined) throw noSuchExperiment();
      await recordChange(transaction, requester, {
        action: "experiment.update",
        objectId: id,
        detail: { name: updated.name },
      });
      return updated;
    });
}

const path = "/v1/experiments";

export function experimentRoutes(services: Services): Route[] {
  const maxBodyBytes = services.settings.maxShortBodyBytes;
  return [
    withCaller("GET", path, "read", async (call) => {
      const query = readQuery(call, ExperimentListQuery);
      const page = { projectId: query.project_id, ...readPage(query, defaultPageLimit) };
      const name: keyof ExperimentListResponse = "experiments";
      const found = await listExperiments(services.evaluation, requesterOf(call), page);
      return await streamList(services, call, name, found, (one) => JSON.stringify(toExperiment(one)));
    }),
    withCaller("POST", path, "evaluate", async (call) => {
      const body = await readExactBody(call, ExperimentCreateRequest, maxBodyBytes);
      const newExperiment = {
        projectId: body.project_id,
        name: body.name,
        tags: body.tags ?? undefined,
        metadata: body.metadata ?? undefined,
        userId: call.caller.userId,
      };
      const once = readOnce(call, "create experiment", body);
      const experiment = await createExperiment(
        services.evaluation,
        requesterOf(call),
        newExperiment,
        once,
      ).catch((error: unknown) => {
        if (!(error instanceof UnknownProjectError)) throw error;
        throw new InvalidRequestError([valueError(["body", "project_id"], error.message, body.project_id)]);
      });
      return toResponse(experiment, 201);
    }),
    withCaller("GET", `${path}/:id`, "read", async (call) =>
      toResponse(await findExperiment(services.evaluation, requesterOf(call), idOf(call)), 200),
    ),
    withCaller("POST", `${path}/:id`, "evaluate", async (call) => {
      const { metadata } = await readExactBody(call, ExperimentUpdateRequest, maxBodyBytes);
      return toResponse(
        await updateExperiment(services.evaluation, requesterOf(call), idOf(call), metadata),
        200,
      );
    }),
  ];
}

function idOf(call: CallWithCaller): string {
  return readPath(call, ExperimentPath).id;
}

function toResponse(experiment: ExperimentRow, status: number): Response {
  const response: ExperimentResponse = { experiment: toExperiment(experiment) };
  return Response.json(response, { status });
}

function toExperiment({ id, project_id, name, tags, metadata, created_at }: ExperimentRow): Experiment {
  return {
    id,
    project_id,
    name,
    tags: tags === null ? null : (parseJson(tags) as Experiment["tags"]),
    metadata: metadata === null ? null : (parseJson(metadata) as Experiment["metadata"]),
    created_at: toIsoInstant(created_at),
  };
}

const tag = "experiments";
const exampleExperiment: Experiment = {
  id: "019aa5f3-1b42-7000-9d1e-6a0c4f7e8d22",
  project_id: exampleProject.id,
  name: "qwen3-8b, temperature 0",
  tags: { split: "test" },
  metadata: { seed: 7 },
  created_at: "2026-11-22T03:46:48.120Z",
};
const requestParams = { path: ExperimentPath };

export const experimentPaths: ZodOpenApiPathsObject = {
  "/v1/experiments": {
    get: operation("listExperiments", tag, "List the account's experiments", {
      description: "Returns the experiments of the account or of one project, newest first.",
      requestParams: { query: ExperimentListQuery },
      responses: {
        "200": response("The experiments, newest first", ExperimentListResponse, {
          experiments: [exampleExperiment],
        }),
        ...pageTooLarge,
      },
    }),
    post: operation("createExperiment", tag, "Create an experiment", {
      description:
        "Creates an experiment in a project. Evaluations and imports that name it in experiment_id belong to it and to its project.",
      requestParams: { header: idempotencyHeader },
      requestBody: body(ExperimentCreateRequest, {
        project_id: exampleExperiment.project_id,
        name: exampleExperiment.name,
        tags: exampleExperiment.tags,
        metadata: exampleExperiment.metadata,
      }),
      responses: {
        "201": response("The new experiment", ExperimentResponse, { experiment: exampleExperiment }),
      },
    }),
  },
  "/v1/experiments/{id}": {
    get: operation("getExperiment", tag, "Show an experiment", {
      description: "Returns one experiment of the account.",
      requestParams,
      responses: {
        "200": response("The experiment", ExperimentResponse, { experiment: exampleExperiment }),
        ...noSuch("experiment"),
      },
    }),
    post: operation("updateExperiment", tag, "Replace an experiment's metadata", {
      description: "Replaces all of an experiment's metadata. Nothing else of it can change.",
      requestParams,
      requestBody: body(ExperimentUpdateRequest, { metadata: { seed: 7, finished: true } }),
      responses: {
        "200": response("The experiment with its new metadata", ExperimentResponse, {
          experiment: { ...exampleExperiment, metadata: { seed: 7, finished: true } },
        }),
        ...noSuch("experiment"),
      },
    }),
  },
};
