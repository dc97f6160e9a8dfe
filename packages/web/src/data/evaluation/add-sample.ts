import type { DatasetRevision, DatasetSample, Presage } from "@presage/sdk";
import { PresageError } from "@presage/sdk";
import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { usePresage } from "../use-presage.ts";

/** Where a sample goes: an existing dataset or a new one. */
export type WantedDataset = { id: string } | { name: string };

export type NewSample = Omit<DatasetSample, "dataset_sample_id">;

/** All datasets, newest first, to choose one. */
export function datasetChoicesQuery(presage: Presage) {
  return queryOptions({
    queryKey: ["datasets", "choices"],
    queryFn: ({ signal }) => presage.datasets.list({ signal }),
  });
}

/** Adds a sample to a dataset, as its next revision: the lines of the latest one and this. */
export function useAddSample({ onSuccess }: { onSuccess(added: AddedSample): void }) {
  const presage = usePresage();
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: async ({ dataset, sample }: { dataset: WantedDataset; sample: NewSample }) => {
      const id = "id" in dataset ? dataset.id : (await presage.datasets.create({ name: dataset.name })).id;
      return { datasetId: id, revision: await append(presage, id, sample) };
    },
    onSuccess,
    onSettled: () => queryClient.invalidateQueries({ queryKey: ["datasets"] }),
  });
}

export interface AddedSample {
  datasetId: string;
  revision: DatasetRevision;
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
