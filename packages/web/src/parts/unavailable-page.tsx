import type { UseQueryResult } from "@tanstack/react-query";
import { Link, type LinkProps } from "@tanstack/react-router";
import { SearchX } from "lucide-react";
import { isNotFound } from "../data/client.ts";
import { buttonClass } from "../ui/button.tsx";
import { Card } from "../ui/card.tsx";
import { EmptyState, ErrorNotice } from "../ui/notice.tsx";
import { Page } from "../ui/page.tsx";
import { SkeletonRows } from "../ui/skeleton.tsx";

interface UnavailablePageProps {
  title: string;
  query: Pick<UseQueryResult, "error" | "isPending" | "refetch">;
  /** A link to the list of all resources of this kind. */
  link: LinkProps;
}

/** The page of a resource that is still loading, could not be loaded or does not exist. */
export function UnavailablePage({ title, query: { error, isPending, refetch }, link }: UnavailablePageProps) {
  if (error !== null && !isNotFound(error)) {
    return (
      <Page title={title}>
        <ErrorNotice error={error} onRetry={refetch} />
      </Page>
    );
  }
  return (
    <Page title={title}>
      <Card>
        {isPending ? (
          <SkeletonRows count={8} className="h-8" />
        ) : (
          <EmptyState
            icon={SearchX}
            title={`${title} not found`}
            actions={<Link {...link} className={buttonClass({})} />}
          >
            The URL may be wrong, or the page may belong to another account.
          </EmptyState>
        )}
      </Card>
    </Page>
  );
}
