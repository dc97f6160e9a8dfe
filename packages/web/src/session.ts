/** The user for whom the server rendered this page. */
export function signedInUserId(): string {
  return document.querySelector("meta[name=user-id]")?.getAttribute("content") ?? "";
}

/** The token that the server put into the page, for requests that change something. */
export function csrfToken(): string | undefined {
  return document.querySelector("meta[name=csrf-token]")?.getAttribute("content") ?? undefined;
}

/** The command to run the command line in a shell on the server's machine. */
export function commandName(): string {
  return document.querySelector("meta[name=command-name]")?.getAttribute("content") ?? "presage";
}

/** A value that the browser stores for this site; undefined if it stores none. */
export function readStored(key: string): string | undefined {
  try {
    return localStorage.getItem(key) ?? undefined;
  } catch {
    return undefined;
  }
}

export function store(key: string, value: string): void {
  try {
    localStorage.setItem(key, value);
  } catch {
    // The value lasts only as long as the page.
  }
}

const storageKey = "presage-signed-out-at";
/** The key of the mutation that ends the session. */
export const signOutKey = ["sign-out"];

/** Tells the browser's other tabs that the session has ended. */
export function announceSignOut(): void {
  store(storageKey, new Date().toISOString());
}

/** Leaves as soon as another tab has signed out, so that nothing of the session stays visible. */
export function leaveWhenSignedOutElsewhere(): void {
  // The event fires in other tabs only.
  window.addEventListener("storage", ({ key }) => {
    if (key === storageKey) goToSignIn();
  });
}

/** Goes to the sign-in page, which returns here afterwards. */
export function goToSignIn(): void {
  const here = location.pathname + location.search;
  location.assign(`/sign-in?return_to=${encodeURIComponent(here)}`);
}

/** Reloads pages that the browser restores from its back-forward cache: their session may have ended. */
export function leaveWhenRestored(): void {
  window.addEventListener("pageshow", (event) => {
    if (event.persisted) location.reload();
  });
}
