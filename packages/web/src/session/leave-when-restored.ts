/** A page that the browser kept and shows again, by its back button, may belong to a session that has ended: it is loaded anew. */
export function leaveWhenRestored(): void {
  window.addEventListener("pageshow", (event) => {
    if (event.persisted) location.reload();
  });
}
