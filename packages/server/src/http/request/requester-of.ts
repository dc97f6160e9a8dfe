import type { Requester } from "../../storage/reader.ts";
import type { CallWithCaller } from "../pipeline/route.ts";

/** The account of a call, with a signal that is aborted when its client disconnects. */
export function requesterOf({ caller, request }: CallWithCaller): Requester {
  return { accountId: caller.accountId, signal: request.signal };
}
