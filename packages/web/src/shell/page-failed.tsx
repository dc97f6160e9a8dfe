import { PresageError } from "@presage/sdk";
import { type ErrorComponentProps, useRouter } from "@tanstack/react-router";
import { useEffect } from "react";
import { ErrorNotice } from "../ui/error-notice.tsx";
import { Page } from "../ui/page.tsx";

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

const reloadedKey = "presage-reloaded-at";
/** A second failure within this time is no new version of the dashboard. */
const timeoutMs = 30_000;

/** Loads the whole page anew, if the server answers: the browser's own error page would help nobody. */
async function reloadDashboard(): Promise<void> {
  const answer = await fetch(location.href).catch(() => undefined);
  if (answer?.ok) location.reload();
}

/** The same without being asked to, once. */
async function reloadDashboardOnce(): Promise<void> {
  const reloadedAtMs = Number(sessionStorage.getItem(reloadedKey) ?? 0);
  if (Date.now() - reloadedAtMs < timeoutMs) return;
  sessionStorage.setItem(reloadedKey, String(Date.now()));
  await reloadDashboard();
}
