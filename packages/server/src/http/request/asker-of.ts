import type { Asker } from "../../storage/reader.ts";
import type { CallWithCaller } from "../pipeline/route.ts";

/** For whom a call reads: its account, until its client disconnects. */
export function askerOf({ caller, request }: CallWithCaller): Asker {
  return { accountId: caller.accountId, signal: request.signal };
}
