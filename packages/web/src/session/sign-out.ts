import { goToSignIn } from "./go-to-sign-in.ts";

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
