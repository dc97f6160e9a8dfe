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
import packageJson from "../../package.json" with { type: "json" };
import { noSuch, pageTooLarge, response } from "../http/describe.ts";
import type { HttpServices } from "../http/exchange.ts";
import { readPage } from "../http/request.ts";
import { streamList } from "../http/response.ts";
import { reply, route } from "../http/route.ts";
import { InvalidRequestError, valueError } from "../http/validate.ts";
import { type Changer, recordChange } from "../platform/audit.ts";
import { notFound } from "../platform/errors.ts";
import { parseStored } from "../platform/json.ts";
import { nowMicros, toIsoInstant } from "../platform/storage/columns.ts";
import { idOf, type Pieces, readListed, refuseLargePage } from "../platform/storage/lists.ts";
import { doOnce, type Once } from "../platform/storage/once.ts";
import { inTransaction, type Requester, type Store } from "../platform/storage/store.ts";
import {
  type ExperimentPage,
  type ExperimentRow,
  replaceMetadata,
  selectExperiment,
  selectExperimentSizes,
  selectExperimentsByIds,
  selectProject,
} from "../results/projects-store.ts";
import examples from "./examples.json" with { type: "json" };
import { notCounted, type Run } from "./run.ts";
import { insertRun } from "./runs-store.ts";

interface ExperimentServices {
  store: Store;
}

const listOwnExperiments = route("GET", "/v1/experiments", {
  needs: "read",
  id: "listExperiments",
  summary: "List the account's experiments",
  description: "Returns the experiments of the account or of one project, newest first.",
  query: ExperimentListQuery,
  allowsUnknown: true,
  responses: {
    "200": response("The experiments, newest first", ExperimentListResponse, {
      experiments: [examples.experiment],
    }),
    ...pageTooLarge,
  },
  async handle(services: ExperimentServices & Pick<HttpServices, "log">, { call, requester, query }) {
    const page = { projectId: query.project_id, ...readPage(query, defaultPageLimit) };
    const name: keyof ExperimentListResponse = "experiments";
    const found = await listExperiments(services, requester, page);
    return await streamList(services, call, name, found, (one) => JSON.stringify(toExperiment(one)));
  },
});

const createOwnExperiment = route("POST", "/v1/experiments", {
  needs: "evaluate",
  id: "createExperiment",
  summary: "Create an experiment",
  description:
    "Creates an experiment in a project. Evaluations and imports that name it in experiment_id belong to it and to its project.",
  body: ExperimentCreateRequest,
  isExact: true,
  bodyExample: examples.newExperiment,
  once: "create experiment",
  responses: {
    "201": response("The new experiment", ExperimentResponse, { experiment: examples.experiment }),
  },
  async handle(services: ExperimentServices, { call, requester, body, once }) {
    const wanted = {
      projectId: body.project_id,
      name: body.name,
      tags: body.tags ?? undefined,
      metadata: body.metadata ?? undefined,
      userId: call.caller.userId,
    };
    const created = await createExperiment(services, requester, wanted, once);
    return reply(201, { experiment: toExperiment(created) });
  },
});

const showExperiment = route("GET", "/v1/experiments/:id", {
  needs: "read",
  id: "getExperiment",
  summary: "Show an experiment",
  description: "Returns one experiment of the account.",
  params: ExperimentPath,
  responses: {
    "200": response("The experiment", ExperimentResponse, { experiment: examples.experiment }),
    ...noSuch("experiment"),
  },
  async handle({ store }: ExperimentServices, { requester, params }) {
    const found = await selectExperiment(store.briefReader(requester), requester.accountId, params.id);
    if (found === undefined) throw notFound("experiment");
    return reply(200, { experiment: toExperiment(found) });
  },
});

const updateExperiment = route("POST", "/v1/experiments/:id", {
  needs: "evaluate",
  id: "updateExperiment",
  summary: "Replace an experiment's metadata",
  description: "Replaces all of an experiment's metadata. Nothing else in it can change.",
  params: ExperimentPath,
  body: ExperimentUpdateRequest,
  isExact: true,
  bodyExample: { metadata: { seed: 7, finished: true } },
  responses: {
    "200": response("The experiment with its new metadata", ExperimentResponse, {
      experiment: { ...examples.experiment, metadata: { seed: 7, finished: true } },
    }),
    ...noSuch("experiment"),
  },
  async handle({ store }: ExperimentServices, { requester, params: { id }, body }) {
    const metadata = JSON.stringify(body.metadata);
    const updated = await inTransaction(store, requester, async (transaction) => {
      const row = await replaceMetadata(transaction, requester.accountId, id, metadata);
      if (row === undefined) throw notFound("experiment");
      await recordChange(transaction, requester, "experiment.update", id, { name: row.name });
      return row;
    });
    return reply(200, { experiment: toExperiment(updated) });
  },
});

export const experimentRoutes = [listOwnExperiments, createOwnExperiment, showExperiment, updateExperiment];

interface NewExperiment {
  projectId: string;
  name: string;
  tags: Readonly<Record<string, string>> | undefined;
  metadata: Readonly<Record<string, unknown>> | undefined;
  userId: string;
}

/** Creates an experiment: a run whose results its client makes. Refuses a project that the account does not have. */
async function createExperiment(
  { store }: ExperimentServices,
  requester: Changer,
  { projectId, metadata, ...wanted }: NewExperiment,
  once: Once | undefined,
): Promise<ExperimentRow> {
  const { accountId } = requester;
  const metadataJson = metadata === undefined ? null : JSON.stringify(metadata);
  return await doOnce(store.writer(requester), once, {
    async work(transaction) {
      const project = await selectProject(transaction, accountId, projectId);
      if (project === undefined) {
        const path = ["body", "project_id"];
        throw new InvalidRequestError([valueError(path, "The account has no such project", projectId)]);
      }
      const run = toRun(accountId, wanted);
      const placement = { project_id: project.id, metadata: metadataJson };
      await insertRun(transaction, run, { placement });
      const { id, name, tags, created_at } = run;
      const detail = { name, project_id: project.id };
      await recordChange(transaction, requester, "experiment.create", id, detail);
      return {
        ...placement,
        id,
        name,
        tags: tags && JSON.stringify(tags),
        created_at,
      };
    },
    toReceipt: ({ id }) => ({ id }),
    async recall({ id }) {
      const experiment = await selectExperiment(store.database, accountId, id);
      if (experiment === undefined) throw notFound("experiment");
      // The metadata may have been replaced since, but a repeated request gets those of the first.
      return { ...experiment, metadata: metadataJson };
    },
  });
}

/** A run that runs from the start until it is cancelled: only the client knows what is still to come. */
function toRun(
  accountId: string,
  { name, tags, userId }: Pick<NewExperiment, "name" | "tags" | "userId">,
): Run {
  const createdAt = nowMicros();
  return {
    id: Bun.randomUUIDv7(),
    account_id: accountId,
    name,
    status: "running",
    status_reason: null,
    paused_by: null,
    target: { kind: "external" },
    mode: "teacher-forced",
    params: null,
    evaluators: [],
    repeats: 1,
    concurrency: 1,
    tags: tags ?? null,
    dataset: undefined,
    counts: { samples: 0, ...notCounted },
    tries: null,
    provenance: {
      presage_version: packageJson.version,
      prompt_version: null,
      dataset_digest: null,
      models: [],
      in_sample: false,
    },
    notes: [],
    created_by: userId,
    // An experiment asks no model.
    api_key_id: null,
    created_at: createdAt,
    started_at: createdAt,
    finished_at: null,
  };
}

/** One page of an account's experiments, newest first. */
async function listExperiments(
  { store }: ExperimentServices,
  requester: Requester,
  page: ExperimentPage,
): Promise<Pieces<ExperimentRow>> {
  const { accountId } = requester;
  const reader = store.briefReader(requester);
  const sizes = await selectExperimentSizes(reader, accountId, page);
  refuseLargePage(sizes, "experiments");
  return readListed(sizes, idOf, (some) => selectExperimentsByIds(reader, accountId, some.map(idOf)));
}

function toExperiment({ id, project_id, name, tags, metadata, created_at }: ExperimentRow): Experiment {
  return {
    id,
    project_id,
    name,
    tags: tags === null ? null : (parseStored(tags) as Experiment["tags"]),
    metadata: metadata === null ? null : (parseStored(metadata) as Experiment["metadata"]),
    created_at: toIsoInstant(created_at),
  };
}
