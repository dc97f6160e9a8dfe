import type { Need } from "@presage/contract/permissions";
import type { ComponentProps } from "react";
import { useRefusal } from "../data/use-role.ts";
import { IconButton } from "../ui/icon-button.tsx";

/** An icon button that says why it does nothing if the user's role does not allow what it is for. */
export function AllowedIconButton({ needs, ...button }: ComponentProps<typeof IconButton> & { needs: Need }) {
  const refusal = useRefusal(needs);
  if (refusal === undefined) return <IconButton {...button} />;
  return (
    <IconButton
      {...button}
      title={refusal}
      // Not `disabled`: it can be reached, so that the reason is read.
      aria-disabled
      aria-description={refusal}
      onClick={(event) => event.preventDefault()}
    />
  );
}
