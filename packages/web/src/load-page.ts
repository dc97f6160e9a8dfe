const reloadedKey = "presage-reloaded-at";
/** A second failure within this time is no new version of the dashboard. */
const patienceMs = 30_000;

/** Loads a page's code. Where that is gone, because the server has another version by now, the whole page is loaded anew, once. */
export async function loadPage<Module>(load: () => Promise<Module>): Promise<Module> {
  try {
    return await load();
  } catch (error) {
    const reloadedAtMs = Number(sessionStorage.getItem(reloadedKey) ?? 0);
    if (Date.now() - reloadedAtMs < patienceMs) throw error;
    sessionStorage.setItem(reloadedKey, String(Date.now()));
    location.reload();
    // Nothing is shown until the new page is there.
    return await new Promise<never>(() => {});
  }
}
