const storageKey = "presage-signed-out-at";
/** Of the mutation that ends the session. */
export const signOutKey = ["sign-out"];

/** Tells the browser's other tabs that the session has ended. */
export function announceSignOut(): void {
  localStorage.setItem(storageKey, new Date().toISOString());
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
