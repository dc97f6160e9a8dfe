import type { DatasetRevision, DatasetSample, Presage } from "@presage/sdk";
import { PresageError } from "@presage/sdk";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { WantedDataset } from "../runs/datasets.ts";
import { usePresage } from "../use-presage.ts";

export type NewSample = Omit<DatasetSample, "dataset_sample_id">;

/** Adds a sample to a dataset, as its next revision: the lines of the latest one and this. */
export function useAddSample() {
  const presage = usePresage();
  const queryClient = useQueryClient();
  return useMutation({
    async mutationFn({ dataset, sample }: { dataset: WantedDataset; sample: NewSample }) {
      const { id } = "id" in dataset ? dataset : await presage.datasets.create(dataset);
      return await append(presage, id, sample);
    },
    onSettled: () => queryClient.invalidateQueries({ queryKey: ["datasets"] }),
  });
}

const maxTries = 5;

/** Someone else may add a revision at the same time. */
async function append(presage: Presage, id: string, sample: NewSample): Promise<DatasetRevision> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await presage.datasets.upload(id, `${JSON.stringify(sample)}\n`, { append: true });
    } catch (error) {
      const isConflict = error instanceof PresageError && error.category === "conflict";
      if (!isConflict || tries === maxTries) throw error;
    }
  }
}
