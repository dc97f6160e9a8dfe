import { Link } from "@tanstack/react-router";
import { SearchX } from "lucide-react";
import { buttonClass } from "../ui/button.tsx";
import { Card } from "../ui/card.tsx";
import { EmptyState } from "../ui/empty-state.tsx";
import { Page } from "../ui/page.tsx";

export function NotFound() {
  return (
    <Page title="Not found">
      <Card>
        <EmptyState
          icon={SearchX}
          title="There is no page here"
          actions={
            <Link to="/" className={buttonClass({ variant: "primary" })}>
              Go to the overview
            </Link>
          }
        >
          The address may be misspelt, or what it named is gone.
        </EmptyState>
      </Card>
    </Page>
  );
}
