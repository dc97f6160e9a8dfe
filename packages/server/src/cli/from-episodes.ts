import { EpisodeSelection } from "@presage/contract";
import type { Config } from "../config/config.ts";
import { CommandError } from "./command-error.ts";
import { describeRevision } from "./import.ts";
import { findDataset, type PlaceOptions, withPlace } from "./place.ts";

interface EpisodesOptions extends PlaceOptions, EpisodeSelection {
  name: string;
  append?: boolean;
}

/** Makes a revision of the dataset of this name, whose trajectories are episodes. */
export async function importEpisodes(
  config: Config,
  { name, append, server, ...selection }: EpisodesOptions,
): Promise<void> {
  const checked = EpisodeSelection.safeParse(selection);
  if (!checked.success) throw new CommandError(checked.error.issues[0]?.message ?? "This selects nothing.");
  await withPlace(config, { server }, async (place) => {
    const known = await findDataset(place, name);
    const dataset = known ?? (await place.datasets.create(name));
    try {
      describeRevision(
        dataset,
        await place.datasets.uploadEpisodes(dataset.id, checked.data, append === true),
      );
    } catch (error) {
      // A dataset that was made for nothing is not left behind.
      if (known === undefined) await place.datasets.delete(dataset.id).catch(() => {});
      throw error;
    }
  });
}
