import { ServiceError } from "../../platform/errors.ts";
import type { Requester } from "../../platform/storage/reader.ts";
import type { OrsSessionsTable } from "../../platform/storage/schema/environments.ts";
import type { EnvironmentServices } from "../environment-services.ts";
import { type Episode, findEpisode } from "../episodes/episode.ts";
import { composeSessionEpisode } from "./create-session.ts";
import { findSession } from "./find-session.ts";

export interface OpenSession {
  session: OrsSessionsTable;
  episode: Episode;
}

/** A session that is used in an environment, with its episode, which starts now if the session had no environment yet. */
export async function openSession(
  services: Pick<EnvironmentServices, "store" | "ors">,
  requester: Requester,
  wanted: { sessionId: string; environment: string; apiKeyId: string | undefined },
): Promise<OpenSession> {
  const session = await findSession(services, requester, wanted.sessionId);
  const { environment, apiKeyId } = wanted;
  if (session.environment === null) {
    const place = JSON.parse(session.wanted) as { split: string; index: number };
    const episode = await composeSessionEpisode(services, requester, {
      ...place,
      id: session.id,
      environment,
      apiKeyId,
    });
    if (await services.ors.startSession({ environment, episode: episode.row }))
      return { session: { ...session, environment }, episode };
    return await openSession(services, requester, wanted);
  }
  if (session.environment !== environment)
    throw new ServiceError("bad_request", `The session is of the environment ${session.environment}.`);
  return { session, episode: await findEpisode(services, requester, session.id) };
}
