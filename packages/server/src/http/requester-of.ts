import type { AccessChanger } from "../accounts/change-access.ts";
import type { Changer } from "../platform/audit.ts";
import { actorOf } from "./caller.ts";
import type { CallWithCaller } from "./route.ts";

/** The account of a call and who acts in it, with a signal that is aborted when its client disconnects. */
export function requesterOf({ caller, request, exchange }: CallWithCaller): Changer {
  const actor = actorOf(caller, exchange.requestId);
  return { accountId: caller.accountId, signal: request.signal, actor };
}

/** The caller as the actor of a change of access. */
export function accessChangerOf(call: CallWithCaller): AccessChanger {
  const { signal, actor } = requesterOf(call);
  return { caller: call.caller, signal, actor };
}
