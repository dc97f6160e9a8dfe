import type { Asker } from "../../storage/reader.ts";
import type { CallWithCaller } from "../pipeline/route.ts";

/** For whom a call reads: its account, until its caller hangs up. */
export function askerOf({ caller, request }: CallWithCaller): Asker {
  return { accountId: caller.accountId, signal: request.signal };
}
