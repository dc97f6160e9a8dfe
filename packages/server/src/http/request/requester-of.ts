import type { Requester } from "../../storage/reader.ts";
import type { CallWithCaller } from "../pipeline/route.ts";

/** For whom a call reads: its account, until its client disconnects. */
export function requesterOf({ caller, request }: CallWithCaller): Requester {
  return { accountId: caller.accountId, signal: request.signal };
}
