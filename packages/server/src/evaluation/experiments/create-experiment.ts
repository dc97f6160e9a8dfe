import { doOnce } from "../../storage/idempotency/do-once.ts";
import type { Once } from "../../storage/idempotency/once.ts";
import { nowMicros } from "../../storage/micros.ts";
import type { Requester } from "../../storage/reader.ts";
import type { EvaluationServices } from "../evaluation-services.ts";
import { selectProject } from "../projects/projects-store.ts";
import { type Experiment, insertExperiment, selectExperiment } from "./experiments-store.ts";
import { noSuchExperiment } from "./find-experiment.ts";

export interface NewExperiment {
  projectId: string;
  name: string;
  tags: Readonly<Record<string, string>> | undefined;
  metadata: Readonly<Record<string, unknown>> | undefined;
}

/** An experiment in a project that the account does not have. */
export class UnknownProjectError extends Error {
  constructor() {
    super("The account has no such project");
    this.name = "UnknownProjectError";
  }
}

/** Creates an experiment. Throws an `UnknownProjectError` if the account has no such project. */
export async function createExperiment(
  { store }: Pick<EvaluationServices, "store">,
  requester: Requester,
  { projectId, name, tags, metadata }: NewExperiment,
  once: Once | undefined,
): Promise<Experiment> {
  const { accountId } = requester;
  const metadataJson = metadata === undefined ? null : JSON.stringify(metadata);
  return await doOnce(store.writer(requester), once, {
    async work(transaction) {
      const project = await selectProject(transaction, accountId, projectId);
      if (project === undefined) throw new UnknownProjectError();
      const experiment = {
        id: Bun.randomUUIDv7(),
        project_id: project.id,
        name,
        tags: tags === undefined ? null : JSON.stringify(tags),
        metadata: metadataJson,
        created_at: nowMicros(),
      };
      await insertExperiment(transaction, { ...experiment, account_id: accountId });
      return experiment;
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
