import type { Need } from "@presage/contract/permissions";
import type { ComponentProps } from "react";
import { IconButton } from "../ui/button.tsx";
import { useRefusalProps } from "./use-refusal-props.ts";

/** An icon button that says why it does nothing if the user's role does not allow what it is for. */
export function AllowedIconButton({ needs, ...button }: ComponentProps<typeof IconButton> & { needs: Need }) {
  return <IconButton {...button} {...useRefusalProps(needs)} />;
}
