import { PresageError } from "@presage/sdk";
import { type ErrorComponentProps, Link, useRouter } from "@tanstack/react-router";
import { SearchX } from "lucide-react";
import { useEffect } from "react";
import { buttonClass } from "../ui/button.tsx";
import { Card } from "../ui/card.tsx";
import { EmptyState, ErrorNotice } from "../ui/notice.tsx";
import { Page } from "../ui/page.tsx";
import { Skeleton } from "../ui/skeleton.tsx";

/** Shown for addresses without a page. */
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

/** Shown while a page's code and data are loading. */
export function PagePending() {
  return (
    <div role="status" className="flex max-w-6xl flex-col gap-4 p-4 md:p-6">
      <span className="sr-only">Loading</span>
      <div className="flex flex-col gap-1">
        <Skeleton className="h-7 w-48" />
        <Skeleton className="h-4 w-80 max-w-full" />
      </div>
      <Skeleton className="h-40" />
      <Skeleton className="h-64" />
    </div>
  );
}

/** Replaces a page that crashed or could not be loaded. The rest of the dashboard keeps working. */
export function PageFailed({ error }: ErrorComponentProps) {
  const router = useRouter();
  const isCodeMissing = error instanceof PresageError && error.category === "connection";
  useEffect(() => {
    // Most likely the server has a new version. Only here, since preloading on hover must not reload the page.
    if (isCodeMissing) void reloadDashboardOnce();
  }, [isCodeMissing]);
  return (
    <Page title="This page could not be shown">
      <ErrorNotice error={error} onRetry={isCodeMissing ? reloadDashboard : () => router.invalidate()} />
    </Page>
  );
}

const reloadedKey = "presage-reloaded-at";
/** A second failure within this time is not caused by a new version. */
const reloadPauseMs = 30_000;

/** Reloads the page if the server responds, to avoid the browser's own error page. */
async function reloadDashboard(): Promise<void> {
  const response = await fetch(location.href).catch(() => undefined);
  if (response?.ok) location.reload();
}

/** Reloads automatically, but only once. */
async function reloadDashboardOnce(): Promise<void> {
  const reloadedAtMs = Number(sessionStorage.getItem(reloadedKey) ?? 0);
  if (Date.now() - reloadedAtMs < reloadPauseMs) return;
  sessionStorage.setItem(reloadedKey, String(Date.now()));
  await reloadDashboard();
}
