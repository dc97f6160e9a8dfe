import { ServiceError } from "../../errors.ts";

/** The address of a request. Bun makes it of the `Host` header, which may be missing or be no host. */
export function requestAddress({ url }: Request): URL {
  const address = URL.parse(url);
  if (address !== null) return address;
  throw new ServiceError(
    "malformed_host",
    "The Host header is missing or malformed; it takes a host and, if needed, a port.",
  );
}
