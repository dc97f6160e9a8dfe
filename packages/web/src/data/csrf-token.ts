/** The token that the server put into the page, for requests that change something. */
export function csrfToken(): string | undefined {
  return document.querySelector("meta[name=csrf-token]")?.getAttribute("content") ?? undefined;
}
