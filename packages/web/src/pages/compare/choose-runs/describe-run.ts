import type { Run } from "@presage/sdk";

/** What predicted: a deployment and its model, or a baseline. */
export function describeTarget({ target, provenance }: Run): string {
  if ("baseline" in target) return target.baseline;
  if ("predictions" in target) return "uploaded predictions";
  if ("external" in target) return "external";
  const model = target.model ?? provenance.models[0];
  return model === undefined || model === null ? target.deployment : `${target.deployment}: ${model}`;
}

/** “kitchens · revision 2”. A dataset that is gone has no name. */
export function describeRevision(run: Run, datasetNames: ReadonlyMap<string, string> | undefined): string {
  if (run.dataset_id === null) return "no dataset";
  const name = datasetNames?.get(run.dataset_id) ?? run.dataset_id.slice(0, 8);
  return run.revision === null ? name : `${name} · revision ${run.revision}`;
}
