import type { KeysetPage, ListPart } from "../../platform/storage/keyset.ts";
import type { Requester } from "../../platform/storage/reader.ts";
import type { EnvironmentServices } from "../environment-services.ts";
import { findEnvironment } from "../find-environment.ts";
import { expiredBefore } from "./episode.ts";
import { type EpisodeFilter, type EpisodeRow, selectEpisodes } from "./episodes-store.ts";

/** Which episodes, with the name of their environment. */
export interface WantedEpisodes extends Omit<EpisodeFilter, "environment_id" | "expiredBefore"> {
  environment?: string;
}

/** One page of an account's episodes, newest first. */
export async function listEpisodes(
  services: Pick<EnvironmentServices, "store">,
  requester: Requester,
  wanted: WantedEpisodes,
  page: KeysetPage,
): Promise<ListPart<EpisodeRow>> {
  const filter = await toFilter(services, requester, wanted);
  return await selectEpisodes(services.store.briefReader(requester), requester.accountId, filter, page);
}

/** Throws if there is no environment of the name. */
export async function toFilter(
  services: Pick<EnvironmentServices, "store">,
  requester: Requester,
  { environment, ...filter }: WantedEpisodes,
): Promise<EpisodeFilter> {
  if (environment === undefined) return { ...filter, expiredBefore: expiredBefore() };
  const { id } = await findEnvironment(services, requester, environment);
  return { ...filter, environment_id: id, expiredBefore: expiredBefore() };
}
