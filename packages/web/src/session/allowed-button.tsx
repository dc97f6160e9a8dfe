import type { Need } from "@presage/contract/permissions";
import { useRefusal } from "../data/use-role.ts";
import { Button, type ButtonProps } from "../ui/button.tsx";

/** A button that says why it does nothing if the user's role does not allow what it is for. */
export function AllowedButton({ needs, ...button }: ButtonProps & { needs: Need }) {
  const refusal = useRefusal(needs);
  if (refusal === undefined) return <Button {...button} />;
  return (
    <Button
      {...button}
      title={refusal}
      // Not `disabled`: it can be reached, so that the reason is read.
      aria-disabled
      aria-description={refusal}
      onClick={(event) => event.preventDefault()}
    />
  );
}
