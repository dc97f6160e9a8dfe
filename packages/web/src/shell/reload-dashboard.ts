const reloadedKey = "presage-reloaded-at";
/** A second failure within this time is no new version of the dashboard. */
const patienceMs = 30_000;

/** Loads the whole page anew, if the server answers: the browser's own error page would help nobody. */
export async function reloadDashboard(): Promise<void> {
  const answer = await fetch(location.href).catch(() => undefined);
  if (answer?.ok) location.reload();
}

/** The same without being asked to, once. */
export async function reloadDashboardOnce(): Promise<void> {
  const reloadedAtMs = Number(sessionStorage.getItem(reloadedKey) ?? 0);
  if (Date.now() - reloadedAtMs < patienceMs) return;
  sessionStorage.setItem(reloadedKey, String(Date.now()));
  await reloadDashboard();
}
