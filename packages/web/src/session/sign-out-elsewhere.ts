import { goToSignIn } from "./go-to-sign-in.ts";

const channelName = "presage-session";

/** Tells the browser's other tabs that their session has ended. */
export function announceSignOut(): void {
  const channel = new BroadcastChannel(channelName);
  channel.postMessage("signed out");
  channel.close();
}

/** Leaves as soon as another tab of the browser has signed out: nothing of the session stays in sight. */
export function leaveWhenSignedOutElsewhere(): void {
  new BroadcastChannel(channelName).addEventListener("message", goToSignIn);
}
