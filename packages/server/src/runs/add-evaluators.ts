import { maxRunEvaluators } from "@presage/contract";
import { type WantedEvaluator, resolveEvaluators } from "../evaluators/resolve-evaluators.ts";
import type { Changer } from "../platform/actor.ts";
import { ServiceError } from "../platform/errors.ts";
import { recordChange } from "../platform/record-change.ts";
import type { EvaluationServices } from "../results/evaluation-services.ts";
import { toRunEvaluators } from "./create-run.ts";
import { noSuchRun } from "./find-run.ts";
import { isSameEvaluator, type Run } from "./run.ts";
import { lockRun, replaceEvaluators } from "./runs-store.ts";

/** Has a run's predictions judged by more evaluators. None is made again; those that the run has already are left out. */
export async function addEvaluators(
  services: Pick<EvaluationServices, "store" | "registry" | "runs">,
  requester: Changer,
  id: string,
  wanted: readonly WantedEvaluator[],
): Promise<Run> {
  const { accountId } = requester;
  const resolved = toRunEvaluators(await resolveEvaluators(services, accountId, wanted));
  const changed = await services.store
    .writer(requester)
    .transaction()
    .execute(async (transaction) => {
      const run = await lockRun(transaction, accountId, id);
      if (run === undefined) throw noSuchRun();
      if (run.target.kind === "external")
        throw new ServiceError(
          "conflict",
          "The run's target is external: it has no predictions to evaluate.",
        );
      if (run.status === "cancelled" || run.status === "failed")
        throw new ServiceError("conflict", `The run is ${run.status}; its predictions cannot be evaluated.`);
      const added = resolved.filter((one) => !run.evaluators.some((known) => isSameEvaluator(one, known)));
      if (added.length === 0) return run;
      const evaluators = [...run.evaluators, ...added];
      if (evaluators.length > maxRunEvaluators)
        throw new ServiceError("conflict", `A run may have at most ${maxRunEvaluators} evaluators.`);
      await recordChange(transaction, requester, {
        action: "run.add_evaluators",
        objectId: id,
        detail: { name: run.name, evaluators: added.map((one) => one.id) },
      });
      return await replaceEvaluators(transaction, run, evaluators);
    });
  services.runs.wake();
  return changed;
}
