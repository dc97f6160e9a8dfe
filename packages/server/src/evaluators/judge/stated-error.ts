import type { UpstreamError } from "../../platform/errors.ts";

const rejectionStatuses = new Set([400, 404, 405, 415, 422, 501]);
const saysUnsupported =
  /not (yet )?(supported|implemented|available)|unsupported|unavailable now|does not support/i;

/** Whether the server rejects the request's form, so that another form may work. */
export function isRejection(error: UpstreamError): boolean {
  if (error.category !== "upstream" || error.status === undefined) return false;
  return rejectionStatuses.has(error.status) || saysUnsupported.test(statedMessage(error));
}

export function isContentFiltered({ stated }: UpstreamError): boolean {
  return stated?.code === "content_filter";
}

/** The server's own words, without the parts of a body that may echo the prompt. */
export function statedMessage({ stated }: UpstreamError): string {
  return [stated?.message, stated?.param].filter((text) => typeof text === "string").join(" ");
}
