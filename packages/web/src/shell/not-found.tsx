import { Link } from "@tanstack/react-router";
import { MapPinOff } from "lucide-react";
import { buttonClass } from "../ui/button.tsx";
import { EmptyState } from "../ui/empty-state.tsx";

export function NotFound() {
  return (
    <EmptyState
      icon={MapPinOff}
      title="There is no page here"
      actions={
        <Link to="/" className={buttonClass({ variant: "primary" })}>
          Go to the overview
        </Link>
      }
    >
      The address may be misspelt, or what it named is gone.
    </EmptyState>
  );
}
