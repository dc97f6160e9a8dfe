import type { Changer } from "../platform/actor.ts";
import { recordChange } from "../platform/record-change.ts";
import { doOnce } from "../platform/storage/do-once.ts";
import { nowMicros } from "../platform/storage/micros.ts";
import type { Once } from "../platform/storage/once.ts";
import type { EvaluationServices } from "../results/evaluation-services.ts";
import { selectProject } from "../results/projects.ts";
import { type ExperimentRow, selectExperiment } from "./experiments-store.ts";
import { noSuchExperiment } from "./find-experiment.ts";
import { notCounted, type Run } from "./run.ts";
import { insertRun } from "./runs-store.ts";

export interface NewExperiment {
  projectId: string;
  name: string;
  tags: Readonly<Record<string, string>> | undefined;
  metadata: Readonly<Record<string, unknown>> | undefined;
  userId: string;
}

/** An experiment in a project that the account does not have. */
export class UnknownProjectError extends Error {
  constructor() {
    super("The account has no such project");
    this.name = "UnknownProjectError";
  }
}

/** Creates an experiment: a run whose results its client makes. Throws an `UnknownProjectError` if the account has no such project. */
export async function createExperiment(
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
