import { ServiceError } from "../../platform/errors.ts";
import type { Requester } from "../../platform/storage/reader.ts";
import type { OrsSessionsTable } from "../../platform/storage/schema/environments.ts";
import type { EnvironmentServices } from "../environment-services.ts";
import { hasEnded } from "./ors-services.ts";
import { deleteSessionRow, selectSession } from "./ors-sessions-store.ts";

type Services = Pick<EnvironmentServices, "store" | "ors">;

/** A live session of the account, which is used with this. */
export async function findSession(
  services: Services,
  requester: Requester,
  sessionId: string,
): Promise<OrsSessionsTable> {
  const { store, ors } = services;
  const id = storedIdOf(services, requester, sessionId);
  const row = await selectSession(store.database, requester.accountId, id);
  if (row === undefined || hasEnded(row)) {
    ors.known.forget(id);
    throw noSuchSession();
  }
  ors.known.note(id);
  return row;
}

/** Keeps a session alive. Mostly it costs neither a read nor a write. */
export async function pingSession(
  services: Services,
  requester: Requester,
  sessionId: string,
): Promise<void> {
  if (services.ors.known.has(storedIdOf(services, requester, sessionId))) return;
  await findSession(services, requester, sessionId);
}

/** Ends a session, if it was used. Its episode stays. */
export async function deleteSession(
  services: Services,
  requester: Requester,
  sessionId: string,
): Promise<void> {
  const id = storedIdOf(services, requester, sessionId);
  services.ors.known.forget(id);
  await deleteSessionRow(services.store.database, requester.accountId, id);
}

/** The id under which a session is stored once it is used. Throws if it is not the account's. */
export function storedIdOf({ ors }: Services, { accountId }: Requester, sessionId: string): string {
  const id = ors.ids.storedIdOf(accountId, sessionId);
  if (id === undefined) throw noSuchSession();
  return id;
}

function noSuchSession(): ServiceError {
  return new ServiceError("not_found", "There is no such session, or it has ended.");
}
