import type { Changer } from "../../audit/actor.ts";
import { actorOf } from "../../identity/caller.ts";
import type { AccessChanger } from "../../identity/change-access.ts";
import type { CallWithCaller } from "../pipeline/route.ts";

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
