/** What a result says about its sample: where it comes from in a dataset or a trajectory. */
export interface SampleOrigin {
  /** The tag `trajectory_id`. */
  trajectoryId?: string | undefined;
  datasetId?: string | undefined;
  datasetSampleId?: number | string | undefined;
}

/** The tag that names a sample's trajectory. */
export const trajectoryTag = "trajectory_id";

/** How much of a digest a number holds exactly. */
const digestBytes = 6;

/**
 * The cluster of a result: results of one trajectory, otherwise of one sample, are not independent of each other. Null if the
 * result names neither. A number takes less room than the names; that two of a million clusters share theirs has a chance of
 * 1 in 500, and they would then count as one. Stored results depend on it, so it can never change.
 */
export function clusterIdOf({ trajectoryId, datasetId, datasetSampleId }: SampleOrigin): number | null {
  const dataset = datasetId ?? null;
  if (trajectoryId) return digestOf(["trajectory", dataset, trajectoryId]);
  if (datasetSampleId === undefined) return null;
  return digestOf(["sample", dataset, String(datasetSampleId)]);
}

function digestOf(names: readonly (string | null)[]): number {
  return new Bun.CryptoHasher("sha256").update(JSON.stringify(names)).digest().readUIntBE(0, digestBytes);
}
