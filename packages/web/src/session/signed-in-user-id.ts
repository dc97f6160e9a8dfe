/** The user for whom the server rendered this page. */
export function signedInUserId(): string {
  return document.querySelector("meta[name=user-id]")?.getAttribute("content") ?? "";
}
