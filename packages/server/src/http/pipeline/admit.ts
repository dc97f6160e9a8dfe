import { limitHolders } from "../../identity/caller.ts";
import type { Admission } from "../../limits/admission.ts";
import type { CallWithCaller } from "./route.ts";

/** Admits a request within the limits or throws; it counts as in flight until its response is ready. */
export async function admit(admission: Admission, { exchange, caller }: CallWithCaller): Promise<void> {
  const holders = limitHolders(caller);
  exchange.rate = await admission.admit(holders);
  exchange.atEnd = () => admission.leave(holders);
}
