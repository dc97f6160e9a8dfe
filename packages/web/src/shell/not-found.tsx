import { Link } from "@tanstack/react-router";
import { SearchX } from "lucide-react";
import { buttonClass } from "../ui/button.tsx";
import { Card } from "../ui/card.tsx";
import { EmptyState } from "../ui/notice.tsx";
import { Page } from "../ui/page.tsx";

export function NotFound() {
  return (
    <Page title="Not found">
      <Card>
        <EmptyState
          icon={SearchX}
          title="Page not found"
          actions={
            <Link to="/" className={buttonClass({ variant: "primary" })}>
              Go to the overview
            </Link>
          }
        >
          The dashboard has no page at this URL. Check it for typing errors.
        </EmptyState>
      </Card>
    </Page>
  );
}
