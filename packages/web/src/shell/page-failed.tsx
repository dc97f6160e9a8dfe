import { PresageError } from "@presage/sdk";
import { type ErrorComponentProps, useRouter } from "@tanstack/react-router";
import { useEffect } from "react";
import { ErrorNotice } from "../ui/error-notice.tsx";
import { Page } from "../ui/page.tsx";
import { reloadDashboard, reloadDashboardOnce } from "./reload-dashboard.ts";

/** In place of a page that broke, or whose code did not come: the rest of the dashboard goes on working. */
export function PageFailed({ error }: ErrorComponentProps) {
  const router = useRouter();
  const isCodeMissing = error instanceof PresageError && error.category === "connection";
  useEffect(() => {
    // Most likely the server has another version by now. Only here: a link that is merely pointed at must not reload the page.
    if (isCodeMissing) void reloadDashboardOnce();
  }, [isCodeMissing]);
  return (
    <Page title="This page cannot be shown">
      <ErrorNotice error={error} onRetry={isCodeMissing ? reloadDashboard : () => router.invalidate()} />
    </Page>
  );
}
