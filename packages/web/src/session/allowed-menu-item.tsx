import type { Need } from "@presage/contract/permissions";
import type { ComponentProps } from "react";
import { useRefusal } from "../data/accounts.ts";
import { MenuItem } from "../ui/menu.tsx";

/** An item that says why it does nothing if the user's role does not allow what it is for. */
export function AllowedMenuItem({ needs, ...item }: ComponentProps<typeof MenuItem> & { needs: Need }) {
  return <MenuItem {...item} refusal={useRefusal(needs)} />;
}
