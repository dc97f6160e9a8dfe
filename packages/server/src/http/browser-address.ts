/** A listener's address as a browser on this machine can open it: not as "all addresses". */
export function browserAddress(address: string): string {
  const url = new URL(address);
  if (url.hostname === "0.0.0.0" || url.hostname === "[::]") url.hostname = "localhost";
  return url.origin;
}
