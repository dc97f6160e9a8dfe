import type { Need } from "@presage/contract/permissions";
import type { MouseEvent } from "react";
import { useRefusal } from "../data/accounts.ts";

/** What a button has besides if the user's role does not allow what it is for: why it does nothing. */
export function useRefusalProps(need: Need) {
  const refusal = useRefusal(need);
  if (refusal === undefined) return {};
  return {
    title: refusal,
    // Not `disabled`: it can be reached, so that the reason is read.
    "aria-disabled": true,
    "aria-description": refusal,
    onClick: (event: MouseEvent) => event.preventDefault(),
  };
}
