import type { Requester } from "../../storage/reader.ts";
import type { EvaluationServices } from "../evaluation-services.ts";
import { discardRun } from "./deleted-runs-store.ts";
import { noSuchRun } from "./find-run.ts";
import type { RunServices } from "./run-services.ts";

/** Deletes a run with its predictions and verdicts, a few at a time. Its evaluation results stay. */
export async function deleteRun(
  services: Pick<EvaluationServices, "store"> & { runs: Pick<RunServices, "wake"> },
  requester: Requester,
  id: string,
): Promise<void> {
  const { accountId } = requester;
  if (!(await discardRun(services.store.writer(requester), accountId, id))) throw noSuchRun();
  services.runs.wake();
}
