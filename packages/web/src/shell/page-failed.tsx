import { PresageError } from "@presage/sdk";
import { type ErrorComponentProps, useRouter } from "@tanstack/react-router";
import { useEffect } from "react";
import { ErrorNotice } from "../ui/notice.tsx";
import { Page } from "../ui/page.tsx";

/** Replaces a page that crashed or could not be loaded. The rest of the dashboard keeps working. */
export function PageFailed({ error }: ErrorComponentProps) {
  const router = useRouter();
  const isCodeMissing = error instanceof PresageError && error.category === "connection";
  useEffect(() => {
    // Most likely the server has a new version. Only here: preloading on hover must not reload the page.
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
