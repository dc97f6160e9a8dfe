/** The user for whom the server made this page; who signs in later gets a page of their own. */
export function signedInUserId(): string {
  return document.querySelector("meta[name=user-id]")?.getAttribute("content") ?? "";
}
