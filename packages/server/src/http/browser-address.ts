/** The address of a listener as a browser on this machine takes it: no browser goes to «every address». */
export function browserAddress(address: string): string {
  const url = new URL(address);
  if (url.hostname === "0.0.0.0" || url.hostname === "[::]") url.hostname = "localhost";
  return url.origin;
}
