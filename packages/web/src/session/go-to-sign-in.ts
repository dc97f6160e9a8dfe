/** Leaves for the sign-in page, which leads back to where the reader is. */
export function goToSignIn(): void {
  const here = location.pathname + location.search;
  location.assign(`/sign-in?return_to=${encodeURIComponent(here)}`);
}
