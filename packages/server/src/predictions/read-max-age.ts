/**
 * How old a kept response may be for this `Cache-Control` of a request, in seconds; 0: none is taken. Undefined for `no-store`, with
 * which nothing is kept either.
 */
export function readMaxAge(cacheControl: string | null): number | undefined {
  let maxAgeS = Number.POSITIVE_INFINITY;
  if (cacheControl === null) return maxAgeS;
  for (const directive of cacheControl.toLowerCase().split(",")) {
    const [name = "", value = ""] = directive.split("=", 2).map((part) => part.trim());
    if (name === "no-store") return undefined;
    if (name === "no-cache") maxAgeS = 0;
    if (name === "max-age" && /^("?)\d+\1$/.test(value))
      maxAgeS = Math.min(maxAgeS, Number(value.replaceAll('"', "")));
  }
  return maxAgeS;
}
