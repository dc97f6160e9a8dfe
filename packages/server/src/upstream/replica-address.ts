/** A replica's URL as it may be shown: without user, password and query. */
export function replicaAddress(url: string): string {
  const { origin, pathname } = new URL(url);
  return origin + pathname;
}
