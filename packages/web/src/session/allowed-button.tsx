import type { Need } from "@presage/contract/permissions";
import { Button, type ButtonProps } from "../ui/button.tsx";
import { useRefusalProps } from "./use-refusal-props.ts";

/** A button that says why it does nothing if the user's role does not allow what it is for. */
export function AllowedButton({ needs, ...button }: ButtonProps & { needs: Need }) {
  return <Button {...button} {...useRefusalProps(needs)} />;
}
