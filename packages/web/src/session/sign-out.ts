const storageKey = "presage-signed-out-at";

/** Tells the browser's other tabs that their session has ended. */
export function announceSignOut(): void {
  localStorage.setItem(storageKey, new Date().toISOString());
}

/** Leaves as soon as another tab of the browser has signed out: nothing of the session stays in sight. */
export function leaveWhenSignedOutElsewhere(): void {
  // A tab does not hear of what it stores itself.
  window.addEventListener("storage", ({ key }) => {
    if (key === storageKey) goToSignIn();
  });
}

/** Leaves for the sign-in page, which leads back to where the reader is. */
export function goToSignIn(): void {
  const here = location.pathname + location.search;
  location.assign(`/sign-in?return_to=${encodeURIComponent(here)}`);
}

/** A page that the browser kept and shows again, by its back button, may belong to a session that has ended: it is loaded anew. */
export function leaveWhenRestored(): void {
  window.addEventListener("pageshow", (event) => {
    if (event.persisted) location.reload();
  });
}
