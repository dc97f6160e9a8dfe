import type { EpisodeGrouping } from "@presage/contract";
import type { Micros } from "../../platform/storage/micros.ts";
import type { Requester } from "../../platform/storage/reader.ts";
import type { EnvironmentServices } from "../environment-services.ts";
import { findEnvironment } from "../find-environment.ts";
import { expiredBefore } from "./episode.ts";
import { type EpisodeCounts, selectEpisodeCounts } from "./episode-figures-store.ts";

export interface WantedFigures {
  by: EpisodeGrouping;
  environment: string | undefined;
  from: Micros | undefined;
  to: Micros | undefined;
}

/** How an account's episodes went, by environment and one thing more. */
export async function countEpisodes(
  services: Pick<EnvironmentServices, "store">,
  requester: Requester,
  { by, environment, ...times }: WantedFigures,
): Promise<EpisodeCounts[]> {
  const found =
    environment === undefined ? undefined : await findEnvironment(services, requester, environment);
  const counted = { ...times, environmentId: found?.id, expiredBefore: expiredBefore() };
  return await selectEpisodeCounts(services.store.reader(requester), requester.accountId, by, counted);
}
