import type { KeysetPage, ListPart } from "../../storage/keyset.ts";
import type { Requester } from "../../storage/reader.ts";
import type { EpisodesTable } from "../../storage/schema/environments.ts";
import type { EnvironmentServices } from "../environment-services.ts";
import { findEnvironment } from "../find-environment.ts";
import { selectEpisodes } from "./episodes-store.ts";

/** One page of an account's episodes, newest first, of one environment if it is named. */
export async function listEpisodes(
  services: Pick<EnvironmentServices, "store">,
  requester: Requester,
  environment: string | undefined,
  page: KeysetPage,
): Promise<ListPart<EpisodesTable>> {
  const id =
    environment === undefined ? undefined : (await findEnvironment(services, requester, environment)).id;
  return await selectEpisodes(services.store.briefReader(requester), requester.accountId, id, page);
}
